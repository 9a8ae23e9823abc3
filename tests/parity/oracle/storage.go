package main

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8scorev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	k8sstoragev1 "k8s.io/kubernetes/pkg/apis/storage/v1"
)

// newStorageObject is an empty object of a kind of storage, by the name of the scenario's list.
func newStorageObject(kind string) (metav1.Object, error) {
	switch kind {
	case "persistentVolumes":
		return &corev1.PersistentVolume{}, nil
	case "persistentVolumeClaims":
		return &corev1.PersistentVolumeClaim{}, nil
	case "storageClasses":
		return &storagev1.StorageClass{}, nil
	case "csiNodes":
		return &storagev1.CSINode{}, nil
	case "csiDrivers":
		return &storagev1.CSIDriver{}, nil
	case "csiStorageCapacities":
		return &storagev1.CSIStorageCapacity{}, nil
	case "volumeAttachments":
		return &storagev1.VolumeAttachment{}, nil
	}
	return nil, fmt.Errorf("no such kind of storage %q", kind)
}

// storageObject decodes and defaults the object of a "set" step.
func storageObject(step *Step) (metav1.Object, error) {
	object, err := newStorageObject(step.Kind)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(step.Object, object); err != nil {
		return nil, fmt.Errorf("%s: %w", step.Kind, err)
	}
	switch o := object.(type) {
	case *corev1.PersistentVolume:
		k8scorev1.SetObjectDefaults_PersistentVolume(o)
	case *corev1.PersistentVolumeClaim:
		k8scorev1.SetObjectDefaults_PersistentVolumeClaim(o)
	case *storagev1.StorageClass:
		k8sstoragev1.SetObjectDefaults_StorageClass(o)
	case *storagev1.CSIDriver:
		k8sstoragev1.SetObjectDefaults_CSIDriver(o)
	}
	return object, nil
}
