package main

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	scratch "github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// nonroot is the user ID and group ID that the image runs as. It owns /data.
const nonroot = 65532

// imageConfig is the configuration of the image. It matches
// packaging/oci/Containerfile.
var imageConfig = v1.Config{
	User:       "65532:65532",
	WorkingDir: "/data",
	Volumes:    map[string]struct{}{"/data": {}},
	Entrypoint: []string{"/a2sscan"},
	Cmd:        []string{"--help"},
}

// imageTree returns the files of the image.
func imageTree(t tree) (root tree) {
	root.add("a2sscan", 0o755, t.find("a2sscan"))
	root.add("LICENSE", 0o644, t.find("LICENSE"))
	root.add("NOTICES", 0o644, t.find("NOTICES"))
	return root
}

// writeImageRoot writes the files that packaging/oci/Containerfile copies into the
// image.
func writeImageRoot(t tree, dir string) error {
	if err := imageTree(t).write(dir); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(dir, "data"), 0o755)
}

// writeImageArchive writes the image as a tar file that container engines can load
// without a registry.
func (r *release) writeImageArchive(s system, t tree, out string) error {
	image, err := r.image(s, imageTree(t))
	if err != nil {
		return err
	}
	tag, err := name.NewTag("a2sscan:" + r.number())
	if err != nil {
		return err
	}
	return tarball.WriteToFile(filepath.Join(out, r.archiveName(s)+".image.tar"), tag, image)
}

// image returns an image with one layer.
func (r *release) image(s system, root tree) (v1.Image, error) {
	files, err := root.layer(r.time)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files)), nil
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
	config.Config = imageConfig
	return mutate.ConfigFile(image, config)
}

// layer returns a tar file of the tree and of data, an empty folder for records.
func (t tree) layer(when time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range t {
		h := tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: when}
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	data := tar.Header{Typeflag: tar.TypeDir, Name: "data/", Mode: 0o755, ModTime: when, Uid: nonroot, Gid: nonroot}
	if err := w.WriteHeader(&data); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}
