package manifest

import (
	"slices"
	"testing"
)

func TestImages(t *testing.T) {
	objects, err := Parse(`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  template:
    spec:
      initContainers: [{name: i, image: "init:1"}]
      containers: [{name: b, image: "web:1"}, {name: c, image: "web:1"}, {name: d}]
      volumes: [{name: v, image: {reference: "data:1", pullPolicy: Always}}]
---
apiVersion: x/v1
kind: Database
metadata: {name: a}
spec: {image: "db@sha256:00", image2: "no", schema: {image: {type: string}}, empty: {image: ""}}
`)
	if err != nil {
		t.Fatal(err)
	}
	if got := Images(objects); !slices.Equal(got, []string{"data:1", "db@sha256:00", "init:1", "web:1"}) {
		t.Errorf("%q", got)
	}
}
