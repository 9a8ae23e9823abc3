package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// syncInformer is a shared informer without a watch: set and remove store the object and call every handler before
// they return. Handlers that are added later are told of what is stored already.
type syncInformer struct {
	store    *orderedIndexer
	handlers []cache.ResourceEventHandler
}

func newSyncInformer() *syncInformer {
	return &syncInformer{store: newOrderedIndexer()}
}

// produce is what an informer factory calls to make the informer of a kind.
func (i *syncInformer) produce(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
	return i
}

// set adds or replaces an object.
func (i *syncInformer) set(obj any) error {
	old, found, err := i.store.Get(obj)
	if err != nil {
		return err
	}
	if err := i.store.Update(obj); err != nil {
		return err
	}
	for _, h := range i.handlers {
		if found {
			h.OnUpdate(old, obj)
		} else {
			h.OnAdd(obj, false)
		}
	}
	return nil
}

// remove deletes the object with this key ("namespace/name" or "name") and reports whether there was one.
func (i *syncInformer) remove(key string) (bool, error) {
	old, found, err := i.store.GetByKey(key)
	if err != nil || !found {
		return false, err
	}
	if err := i.store.Delete(old); err != nil {
		return false, err
	}
	for _, h := range i.handlers {
		h.OnDelete(old)
	}
	return true, nil
}

func (i *syncInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	for _, obj := range i.store.List() {
		h.OnAdd(obj, true)
	}
	i.handlers = append(i.handlers, h)
	return synced{}, nil
}

func (i *syncInformer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

func (i *syncInformer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

func (i *syncInformer) RemoveEventHandler(cache.ResourceEventHandlerRegistration) error {
	return fmt.Errorf("a syncInformer keeps its handlers")
}

func (i *syncInformer) AddIndexers(indexers cache.Indexers) error {
	return i.store.AddIndexers(indexers)
}
func (i *syncInformer) GetIndexer() cache.Indexer              { return i.store }
func (i *syncInformer) GetStore() cache.Store                  { return i.store }
func (i *syncInformer) GetController() cache.Controller        { return nil }
func (i *syncInformer) Run(<-chan struct{})                    {}
func (i *syncInformer) RunWithContext(context.Context)         {}
func (i *syncInformer) HasSynced() bool                        { return true }
func (i *syncInformer) HasSyncedChecker() cache.DoneChecker    { return synced{} }
func (i *syncInformer) LastSyncResourceVersion() string        { return "" }
func (i *syncInformer) IsStopped() bool                        { return false }
func (i *syncInformer) SetTransform(cache.TransformFunc) error { return nil }

func (i *syncInformer) SetWatchErrorHandler(cache.WatchErrorHandler) error { return nil }

func (i *syncInformer) SetWatchErrorHandlerWithContext(cache.WatchErrorHandlerWithContext) error {
	return nil
}

// synced is the registration and the done checker of informers that never lag.
type synced struct{}

var alreadyDone = func() <-chan struct{} { c := make(chan struct{}); close(c); return c }()

func (synced) HasSynced() bool                     { return true }
func (synced) HasSyncedChecker() cache.DoneChecker { return synced{} }
func (synced) Name() string                        { return "synchronous informer" }
func (synced) Done() <-chan struct{}               { return alreadyDone }

// keyOf is the store key of an object: "namespace/name", or "name" without a namespace.
func keyOf(obj any) (string, error) {
	o, err := meta.Accessor(obj)
	if err != nil {
		return "", err
	}
	if o.GetNamespace() == "" {
		return o.GetName(), nil
	}
	return o.GetNamespace() + "/" + o.GetName(), nil
}
