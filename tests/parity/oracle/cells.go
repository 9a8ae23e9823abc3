package main

import (
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// cells asks each plugin by itself: PreFilter once, Filter on every node, with no short cut after a rejection and
// without nominated pods.
type cells struct {
	world   *world
	profile framework.Framework
	pod     *corev1.Pod
	nodes   []fwk.NodeInfo
}

func (c *cells) fill(j *Judgement) {
	plugins := map[string]fwk.Plugin{}
	for _, plugin := range c.profile.EnqueueExtensions() {
		plugins[plugin.Name()] = plugin
	}
	enabled := c.profile.ListPlugins()
	state := framework.NewCycleState()
	j.PreFilter = map[string]*Status{}
	j.Filter = map[string]map[string]Status{}
	without := c.preFilter(state, plugins, enabled.PreFilter.Enabled, j)
	for _, entry := range enabled.Filter.Enabled {
		plugin, ok := plugins[entry.Name].(fwk.FilterPlugin)
		if ok && !without[entry.Name] {
			j.Evaluated = append(j.Evaluated, entry.Name)
			c.filter(state, plugin, j)
		}
	}
}

// preFilter returns the plugins whose Filter has nothing to work with: skipped or failed.
func (c *cells) preFilter(state fwk.CycleState, plugins map[string]fwk.Plugin, enabled []config.Plugin, j *Judgement) map[string]bool {
	without := map[string]bool{}
	for _, entry := range enabled {
		plugin, ok := plugins[entry.Name].(fwk.PreFilterPlugin)
		if !ok {
			continue
		}
		result, status := plugin.PreFilter(c.world.ctx, state, c.pod, c.nodes)
		verdict := statusOf(status)
		verdict.Plugin = ""
		if !result.AllNodes() {
			verdict.Nodes = sortedNames(result.NodeNames)
		}
		without[entry.Name] = !status.IsSuccess()
		if !status.IsSuccess() || verdict.Nodes != nil {
			j.PreFilter[entry.Name] = verdict
		}
	}
	return without
}

func (c *cells) filter(state fwk.CycleState, plugin fwk.FilterPlugin, j *Judgement) {
	for _, node := range c.nodes {
		status := plugin.Filter(c.world.ctx, state, c.pod, node)
		if status.IsSuccess() {
			continue
		}
		name := node.Node().Name
		if j.Filter[name] == nil {
			j.Filter[name] = map[string]Status{}
		}
		verdict := statusOf(status)
		verdict.Plugin = ""
		j.Filter[name][plugin.Name()] = *verdict
	}
}
