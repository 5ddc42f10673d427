package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing/fstest"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	scratch "github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// nonroot is the user ID and group ID that the image runs as. This user owns /data.
const nonroot = 65532

// writeImage writes the image as a tar file that container engines can load without a
// registry. It has one layer, which contains the program, its licences, and the empty folder
// /data for records.
func (r *release) writeImage(s system, t fstest.MapFS, out string) error {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := errors.Join(
		w.AddFS(fstest.MapFS{"a2sscan": t["a2sscan"], "LICENSE": t["LICENSE"], "NOTICES": t["NOTICES"]}),
		w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "data/", Mode: 0o755, ModTime: r.time, Uid: nonroot, Gid: nonroot}),
		w.Close())
	if err != nil {
		return err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(b.Bytes())), nil
	})
	if err != nil {
		return err
	}
	image, err := mutate.ConfigFile(scratch.Image, &v1.ConfigFile{
		OS: s.os, Architecture: s.arch, Created: v1.Time{Time: r.time}, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User:       fmt.Sprintf("%d:%d", nonroot, nonroot),
			WorkingDir: "/data",
			Volumes:    map[string]struct{}{"/data": {}},
			Entrypoint: []string{"/a2sscan"},
			Cmd:        []string{"--help"},
		},
	})
	if err != nil {
		return err
	}
	if image, err = mutate.AppendLayers(image, layer); err != nil {
		return err
	}
	tag, err := name.NewTag("a2sscan:" + r.number())
	if err != nil {
		return err
	}
	return tarball.WriteToFile(filepath.Join(out, r.archiveName(s)+".image.tar"), tag, image)
}
