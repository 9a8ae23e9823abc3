package main

import (
	"context"
	"sync"
	"time"

	fakeclient "k8s.io/client-go/kubernetes/fake"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	fakemetrics "k8s.io/metrics/pkg/client/clientset/versioned/fake"
	"sigs.k8s.io/descheduler/cmd/descheduler/app/options"
	"sigs.k8s.io/descheduler/pkg/api"
	"sigs.k8s.io/descheduler/pkg/descheduler"
	"sigs.k8s.io/descheduler/pkg/features"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"
)

const timeout = 2 * time.Minute

// The loader converts through a scheme that it builds at its first use, without a lock.
var loading sync.Mutex

// run plays one cycle from the start; the error is the refusal of the policy.
func run(asked scenario, cluster *world, path string, faults *faults) (*outcome, error) {
	client := fakeclient.NewSimpleClientset(cluster.copies()...)
	record := &recorder{client: client, settle: asked.settle()}
	client.PrependReactor("create", "pods", record.react)
	loading.Lock()
	policy, err := descheduler.LoadPolicyConfig(path, client, pluginregistry.PluginRegistry)
	loading.Unlock()
	if err != nil {
		return nil, err
	}
	server, err := options.NewDeschedulerServer()
	if err != nil {
		return nil, err
	}
	server.Client, server.EventClient = client, fakeclient.NewSimpleClientset()
	server.DefaultFeatureGates = features.DefaultMutableFeatureGate
	server.DisableMetrics = true
	if usesMetrics(policy) {
		if err := addMetrics(server, cluster); err != nil {
			return nil, err
		}
	}
	if len(asked.Prometheus) > 0 {
		server.PrometheusClient = prometheus{data: asked.Prometheus}
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := descheduler.RunDeschedulerStrategies(ctx, server, policy, "policy/v1"); err != nil {
		return nil, err
	}
	result := &outcome{Evictions: record.evictions, Errors: []string{}}
	for _, profile := range policy.Profiles {
		result.Errors = append(result.Errors, faults.take(profile.Name)...)
	}
	return result, nil
}

func usesMetrics(policy *api.DeschedulerPolicy) bool {
	for _, provider := range policy.MetricsProviders {
		if provider.Source == api.KubernetesMetrics {
			return true
		}
	}
	return policy.MetricsCollector != nil && policy.MetricsCollector.Enabled
}

func addMetrics(server *options.DeschedulerServer, cluster *world) error {
	client := fakemetrics.NewSimpleClientset()
	group := metricsv1beta1.SchemeGroupVersion
	for _, item := range cluster.nodeMetrics {
		if err := client.Tracker().Create(group.WithResource("nodes"), item, ""); err != nil {
			return err
		}
	}
	for _, item := range cluster.podMetrics {
		if err := client.Tracker().Create(group.WithResource("pods"), item, item.Namespace); err != nil {
			return err
		}
	}
	server.MetricsClient = client
	return nil
}
