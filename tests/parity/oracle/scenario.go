package main

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Scenario is one line of input. Objects are Kubernetes JSON, defaulted and admitted; every list keeps its order.
type Scenario struct {
	ID   string `json:"id"`
	Tier string `json:"tier"`

	// Manifests asks for a scenario instead of bringing one.
	Manifests *Manifests `json:"manifests,omitempty"`

	Nodes                  []*corev1.Node                  `json:"nodes,omitempty"`
	Pods                   []*corev1.Pod                   `json:"pods,omitempty"`
	Namespaces             []*corev1.Namespace             `json:"namespaces,omitempty"`
	Services               []*corev1.Service               `json:"services,omitempty"`
	ReplicationControllers []*corev1.ReplicationController `json:"replicationControllers,omitempty"`
	ReplicaSets            []*appsv1.ReplicaSet            `json:"replicaSets,omitempty"`
	StatefulSets           []*appsv1.StatefulSet           `json:"statefulSets,omitempty"`
	PersistentVolumes      []*corev1.PersistentVolume      `json:"persistentVolumes,omitempty"`
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim `json:"persistentVolumeClaims,omitempty"`
	StorageClasses         []*storagev1.StorageClass       `json:"storageClasses,omitempty"`
	CSINodes               []*storagev1.CSINode            `json:"csiNodes,omitempty"`
	CSIDrivers             []*storagev1.CSIDriver          `json:"csiDrivers,omitempty"`
	CSIStorageCapacities   []*storagev1.CSIStorageCapacity `json:"csiStorageCapacities,omitempty"`
	VolumeAttachments      []*storagev1.VolumeAttachment   `json:"volumeAttachments,omitempty"`
	PodDisruptionBudgets   []*policyv1.PodDisruptionBudget `json:"podDisruptionBudgets,omitempty"`
	PriorityClasses        []*schedulingv1.PriorityClass   `json:"priorityClasses,omitempty"`

	// Configuration is a KubeSchedulerConfiguration (v1); absent means the default one.
	Configuration json.RawMessage `json:"configuration,omitempty"`

	// Pending are the pods of tier A, each judged alone.
	Pending []*corev1.Pod `json:"pending,omitempty"`

	// Templates and Steps are the sequence of tier B.
	Templates map[string]*corev1.Pod `json:"templates,omitempty"`
	Steps     []Step                 `json:"steps,omitempty"`
}

// Step is one event of a tier-B sequence; Op says which of the other fields are read.
type Step struct {
	Op string `json:"op"`
	// Pod is a whole object, for "schedule" without a template and for "addPod".
	Pod *corev1.Pod `json:"pod,omitempty"`
	// Template and Name make the pod of "schedule": the template's object under another name and UID.
	Template string `json:"template,omitempty"`
	Name     string `json:"name,omitempty"`
	// Key ("namespace/name") names the pod of "retry", "patchPod" and "deletePod", the node of "deleteNode", the object
	// of "delete".
	Key string `json:"key,omitempty"`
	// Node is a whole object, for "addNode" and "updateNode".
	Node *corev1.Node `json:"node,omitempty"`
	// Kind ("persistentVolumes", …: a list of a scenario) and Object are for "set" and "delete" of an object of storage.
	Kind   string          `json:"kind,omitempty"`
	Object json.RawMessage `json:"object,omitempty"`
	// Patch is a JSON merge patch (RFC 7386) for "patchPod".
	Patch json.RawMessage `json:"patch,omitempty"`
}

// parseScenario decodes and defaults one line.
func parseScenario(line []byte) (*Scenario, error) {
	s := &Scenario{}
	if err := json.Unmarshal(line, s); err != nil {
		return s, fmt.Errorf("scenario: %w", err)
	}
	if s.Manifests != nil {
		return s, nil
	}
	if s.Tier != "A" && s.Tier != "B" {
		return s, fmt.Errorf("scenario %q: tier is %q, want A or B", s.ID, s.Tier)
	}
	s.applyDefaults()
	return s, nil
}

// podOf is the pod that a "schedule" step brings in.
func (s *Scenario) podOf(step *Step) (*corev1.Pod, error) {
	if step.Template == "" {
		if step.Pod == nil {
			return nil, fmt.Errorf("schedule: neither pod nor template")
		}
		return step.Pod, nil
	}
	template := s.Templates[step.Template]
	if template == nil {
		return nil, fmt.Errorf("schedule: no template %q", step.Template)
	}
	pod := template.DeepCopy()
	pod.Name = step.Name
	pod.UID = podUID(pod)
	return pod, nil
}
