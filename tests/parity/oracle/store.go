package main

import (
	"sort"

	"k8s.io/client-go/tools/cache"
)

// orderedIndexer is an informer store whose listings come in insertion order (an update keeps the place). Upstream's
// store lists in map order, which is random; insertion order is one of the orders it may take, so decisions that depend
// on it (the first of several PDBs, of several storage capacities) become reproducible.
type orderedIndexer struct {
	cache.Indexer
	place map[string]int
	next  int
}

func newOrderedIndexer() *orderedIndexer {
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	return &orderedIndexer{Indexer: cache.NewIndexer(keyOf, indexers), place: map[string]int{}}
}

func (s *orderedIndexer) Add(obj any) error { return s.Update(obj) }

func (s *orderedIndexer) Update(obj any) error {
	key, err := keyOf(obj)
	if err != nil {
		return err
	}
	if _, found := s.place[key]; !found {
		s.place[key] = s.next
		s.next++
	}
	return s.Indexer.Update(obj)
}

func (s *orderedIndexer) Delete(obj any) error {
	key, err := keyOf(obj)
	if err != nil {
		return err
	}
	delete(s.place, key)
	return s.Indexer.Delete(obj)
}

func (s *orderedIndexer) List() []any { return s.sorted(s.Indexer.List()) }

func (s *orderedIndexer) Index(name string, obj any) ([]any, error) {
	objs, err := s.Indexer.Index(name, obj)
	return s.sorted(objs), err
}

func (s *orderedIndexer) ByIndex(name, value string) ([]any, error) {
	objs, err := s.Indexer.ByIndex(name, value)
	return s.sorted(objs), err
}

func (s *orderedIndexer) sorted(objs []any) []any {
	sort.SliceStable(objs, func(i, j int) bool { return s.rank(objs[i]) < s.rank(objs[j]) })
	return objs
}

func (s *orderedIndexer) rank(obj any) int {
	key, err := keyOf(obj)
	if err != nil {
		return s.next
	}
	return s.place[key]
}
