// Command check builds the kustomizations in the folders that its arguments name. It
// decodes the results strictly with the types of the Kubernetes API: an unknown field,
// or a value of the wrong type, is an error. It also checks what the types can't: that
// the objects to which pods refer exist, that each job has as many shards as
// completions, and that the restricted Pod Security Standard admits the pods.
package main

import (
	"errors"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	var objects []runtime.Object
	for _, dir := range dirs {
		built, err := build(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		objects = append(objects, built...)
	}
	have := map[string]bool{}
	for _, o := range objects {
		have[key(o)] = true
	}
	for _, o := range objects {
		if err := check(o, have); err != nil {
			return fmt.Errorf("%s: %w", key(o), err)
		}
		fmt.Println(key(o))
	}
	return nil
}

// build returns the objects of the kustomization in dir, in the order of the
// output.
func build(dir string) (objects []runtime.Object, err error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	for _, r := range built.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			return nil, err
		}
		object, _, err := decoder.Decode(text, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.CurId(), err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// key returns the kind and name of an object, which identify it.
func key(o runtime.Object) string {
	return o.GetObjectKind().GroupVersionKind().Kind + " " + o.(metav1.Object).GetName()
}

// check checks a Job, the job template of a CronJob, or a Deployment. It accepts all
// other objects.
func check(object runtime.Object, have map[string]bool) error {
	switch o := object.(type) {
	case *batchv1.Job:
		return checkJob(&o.Spec, have)
	case *batchv1.CronJob:
		return checkJob(&o.Spec.JobTemplate.Spec, have)
	case *appsv1.Deployment:
		return errors.Join(references(&o.Spec.Template.Spec, have), admitted(&o.Spec.Template))
	}
	return nil
}

func checkJob(spec *batchv1.JobSpec, have map[string]bool) error {
	return errors.Join(shards(spec), references(&spec.Template.Spec, have), admitted(&spec.Template))
}

// shards checks that a job has the argument --shard=auto/N, where N is its number
// of completions.
func shards(spec *batchv1.JobSpec) error {
	if spec.Completions == nil {
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

// references checks that have contains every ConfigMap and volume claim that a pod
// mounts, and every Secret that it reads as environment variables.
func references(pod *corev1.PodSpec, have map[string]bool) (err error) {
	need := func(kind, name string) {
		if !have[kind+" "+name] {
			err = errors.Join(err, fmt.Errorf("there is no %s %s", kind, name))
		}
	}
	for _, v := range pod.Volumes {
		if v.ConfigMap != nil {
			need("ConfigMap", v.ConfigMap.Name)
		}
		if v.PersistentVolumeClaim != nil {
			need("PersistentVolumeClaim", v.PersistentVolumeClaim.ClaimName)
		}
	}
	for _, c := range pod.Containers {
		for _, from := range c.EnvFrom {
			if from.SecretRef != nil {
				need("Secret", from.SecretRef.Name)
			}
		}
	}
	return err
}

// admitted checks that the restricted Pod Security Standard, which namespace.yaml
// enforces, admits the pods.
func admitted(pod *corev1.PodTemplateSpec) error {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks())
	if err != nil {
		return err
	}
	level := psapi.LevelVersion{Level: psapi.LevelRestricted, Version: psapi.LatestVersion()}
	result := policy.AggregateCheckResults(evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec))
	if !result.Allowed {
		return fmt.Errorf("restricted pods only: %s", result.ForbiddenDetail())
	}
	return nil
}
