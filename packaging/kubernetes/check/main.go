// Command check decodes the manifests in a folder strictly with the types of the
// Kubernetes API: an unknown field, or a value of the wrong type, is an error.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no manifests in %s: %v", dir, err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{batchv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	for _, name := range files {
		if filepath.Base(name) == "kustomization.yaml" {
			continue
		}
		if err := check(decoder, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// check decodes the documents of a file.
func check(decoder runtime.Decoder, name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	defer documents.Close()
	buffer := make([]byte, 1<<20)
	for {
		n, err := documents.Read(buffer)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		object, kind, err := decoder.Decode(buffer[:n], nil, nil)
		if err != nil {
			return err
		}
		if err := consistent(object); err != nil {
			return err
		}
		fmt.Printf("%s: %s\n", filepath.Base(name), kind)
	}
}

// consistent checks what the types can't: the shards are as many as the completions.
func consistent(object runtime.Object) error {
	var spec *batchv1.JobSpec
	switch o := object.(type) {
	case *batchv1.Job:
		spec = &o.Spec
	case *batchv1.CronJob:
		spec = &o.Spec.JobTemplate.Spec
	default:
		return nil
	}
	want := fmt.Sprintf("--shard=auto/%d", *spec.Completions)
	for _, arg := range spec.Template.Spec.Containers[0].Args {
		if arg == want {
			return nil
		}
	}
	return fmt.Errorf("the job has %d completions, and no argument %s", *spec.Completions, want)
}
