package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

func sampleImage(t *testing.T) v1.Image {
	t.Helper()
	var files tree
	files.add("a2sscan", 0o755, []byte("program"))
	files.add("LICENSE", 0o644, []byte("license"))
	files.add("NOTICES", 0o644, []byte("notices"))
	files.add("README.md", 0o644, []byte("not in the image"))
	r := &release{version: "v1.2.3", time: when}
	image, err := r.image(system{"linux", "arm64"}, imageTree(files))
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func TestImageFiles(t *testing.T) {
	image := sampleImage(t)
	files := mutate.Extract(image)
	defer files.Close()
	var got []string
	for r := tar.NewReader(files); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r)
		got = append(got, fmt.Sprintf("%s %o %d:%d %s", h.Name, h.Mode, h.Uid, h.Gid, text))
	}
	want := []string{
		"a2sscan 755 0:0 program", "LICENSE 644 0:0 license", "NOTICES 644 0:0 notices", "data 755 65532:65532 ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	again := sampleImage(t)
	one, _ := image.Digest()
	if two, _ := again.Digest(); one != two {
		t.Errorf("the same files made %s and %s", one, two)
	}
}

// TestImageConfig: the archive and the Containerfile describe the same image.
func TestImageConfig(t *testing.T) {
	text, err := os.ReadFile("../oci/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	var want v1.Config
	list := func(value string) (words []string) {
		if err := json.Unmarshal([]byte(value), &words); err != nil {
			t.Fatal(err)
		}
		return words
	}
	for line := range strings.Lines(string(text)) {
		directive, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch directive {
		case "USER":
			want.User = value
		case "WORKDIR":
			want.WorkingDir = value
		case "VOLUME":
			want.Volumes = map[string]struct{}{value: {}}
		case "ENTRYPOINT":
			want.Entrypoint = list(value)
		case "CMD":
			want.Cmd = list(value)
		}
	}
	got, err := sampleImage(t).ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Config, want) {
		t.Errorf("got %+v, want %+v", got.Config, want)
	}
	if got.OS != "linux" || got.Architecture != "arm64" || !got.Created.Time.Equal(when) {
		t.Errorf("%s/%s of %v", got.OS, got.Architecture, got.Created)
	}
}
