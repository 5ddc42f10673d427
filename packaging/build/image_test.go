package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func sampleImage(t *testing.T) v1.Image {
	t.Helper()
	files, r := fstest.MapFS{}, &release{version: "v1.2.3", time: when}
	r.add(files, "a2sscan", 0o755, []byte("program"))
	r.add(files, "LICENSE", 0o644, []byte("license"))
	r.add(files, "NOTICES", 0o644, []byte("notices"))
	r.add(files, "README.md", 0o644, []byte("not in the image"))
	dir, arm := t.TempDir(), system{"linux", "arm64"}
	if err := r.writeImage(arm, files, dir); err != nil {
		t.Fatal(err)
	}
	image, err := tarball.ImageFromPath(filepath.Join(dir, r.archiveName(arm)+".image.tar"), nil)
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
		"LICENSE 644 0:0 license", "NOTICES 644 0:0 notices", "a2sscan 755 0:0 program", "data 755 65532:65532 ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	again := sampleImage(t)
	one, _ := image.Digest()
	if two, _ := again.Digest(); one != two {
		t.Errorf("the same files made %s and %s", one, two)
	}
	config, err := image.ConfigFile()
	if err != nil || config.OS != "linux" || config.Architecture != "arm64" || !config.Created.Time.Equal(when) {
		t.Errorf("%+v, %v", config, err)
	}
}
