package main

import (
	"archive/tar"
	"bytes"
	"io"
	"path/filepath"
	"testing/fstest"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	scratch "github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// nonroot is the user ID and group ID that the image runs as. It owns /data.
const nonroot = 65532

// writeImage writes the image as a tar file that container engines can load without a
// registry.
func (r *release) writeImage(s system, t fstest.MapFS, out string) error {
	image, err := r.image(s, t)
	if err != nil {
		return err
	}
	tag, err := name.NewTag("a2sscan:" + r.number())
	if err != nil {
		return err
	}
	return tarball.WriteToFile(filepath.Join(out, r.archiveName(s)+".image.tar"), tag, image)
}

// image returns an image with one layer: the program, its licences, and data, an empty
// folder for records.
func (r *release) image(s system, t fstest.MapFS) (v1.Image, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.AddFS(fstest.MapFS{"a2sscan": t["a2sscan"], "LICENSE": t["LICENSE"], "NOTICES": t["NOTICES"]}); err != nil {
		return nil, err
	}
	data := tar.Header{Typeflag: tar.TypeDir, Name: "data/", Mode: 0o755, ModTime: r.time, Uid: nonroot, Gid: nonroot}
	if err := w.WriteHeader(&data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(b.Bytes())), nil
	})
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(scratch.Image, layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = s.os, s.arch
	config.Created = v1.Time{Time: r.time}
	config.Config = v1.Config{
		User:       "65532:65532",
		WorkingDir: "/data",
		Volumes:    map[string]struct{}{"/data": {}},
		Entrypoint: []string{"/a2sscan"},
		Cmd:        []string{"--help"},
	}
	return mutate.ConfigFile(image, config)
}
