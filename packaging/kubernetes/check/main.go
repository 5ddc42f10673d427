// Command check builds the kustomizations in the folders that its arguments name. It
// decodes the results strictly with the types of the Kubernetes API: an unknown field,
// or a value of the wrong type, is an error. It also checks what the types can't: that
// the objects to which pods refer exist, that each job has as many shards as
// completions, and that the restricted Pod Security Standard admits the pods.
package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	psapi "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

func run(dirs []string) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	objects := map[string]runtime.Object{} // the objects by kind and name
	for _, dir := range dirs {
		built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		for _, r := range built.Resources() {
			text, err := r.AsYAML()
			if err != nil {
				return err
			}
			object, kind, err := decoder.Decode(text, nil, nil)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", dir, r.CurId(), err)
			}
			objects[kind.Kind+" "+r.GetName()] = object
		}
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks())
	if err != nil {
		return err
	}
	for name, object := range objects {
		var pod *corev1.PodTemplateSpec
		var shards *int32
		switch o := object.(type) {
		case *batchv1.Job:
			pod, shards = &o.Spec.Template, o.Spec.Completions
		case *batchv1.CronJob:
			pod, shards = &o.Spec.JobTemplate.Spec.Template, o.Spec.JobTemplate.Spec.Completions
		case *appsv1.Deployment:
			pod = &o.Spec.Template
		default:
			continue
		}
		if shards != nil && !slices.Contains(pod.Spec.Containers[0].Args, fmt.Sprintf("--shard=auto/%d", *shards)) {
			err = errors.Join(err, fmt.Errorf("%s: completions is %d, but the argument --shard=auto/%d is missing", name, *shards, *shards))
		}
		for _, other := range mentioned(&pod.Spec) {
			if objects[other] == nil {
				err = errors.Join(err, fmt.Errorf("%s refers to %s, which does not exist", name, other))
			}
		}
		level := psapi.LevelVersion{Level: psapi.LevelRestricted, Version: psapi.LatestVersion()} // the level that namespace.yaml enforces
		result := policy.AggregateCheckResults(evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec))
		if !result.Allowed {
			err = errors.Join(err, fmt.Errorf("%s: the restricted Pod Security Standard forbids this pod: %s", name, result.ForbiddenDetail()))
		}
	}
	fmt.Println(strings.Join(slices.Sorted(maps.Keys(objects)), "\n"))
	return err
}

// mentioned returns the ConfigMaps and volume claims that a pod mounts, and the Secrets
// that it reads as environment variables. Each name begins with the kind of the object.
func mentioned(pod *corev1.PodSpec) (names []string) {
	for _, v := range pod.Volumes {
		if v.ConfigMap != nil {
			names = append(names, "ConfigMap "+v.ConfigMap.Name)
		}
		if v.PersistentVolumeClaim != nil {
			names = append(names, "PersistentVolumeClaim "+v.PersistentVolumeClaim.ClaimName)
		}
	}
	for _, c := range pod.Containers {
		for _, from := range c.EnvFrom {
			if from.SecretRef != nil {
				names = append(names, "Secret "+from.SecretRef.Name)
			}
		}
	}
	return names
}
