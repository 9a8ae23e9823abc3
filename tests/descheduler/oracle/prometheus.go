package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	promapi "github.com/prometheus/client_golang/api"
)

// prometheus answers every query with the same data.
type prometheus struct {
	data json.RawMessage
}

var _ promapi.Client = prometheus{}

// URL implements promapi.Client.
func (p prometheus) URL(endpoint string, _ map[string]string) *url.URL {
	return &url.URL{Scheme: "http", Host: "prometheus.example", Path: endpoint}
}

// Do implements promapi.Client. The API client above it wants the answer's envelope.
func (p prometheus) Do(context.Context, *http.Request) (*http.Response, []byte, error) {
	body, err := json.Marshal(map[string]any{"status": "success", "data": p.data})
	return &http.Response{StatusCode: http.StatusOK}, body, err
}
