package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing/fstest" // fstest.MapFS is a file system in memory, which package tar and package zip can read
)

// nfpm is the program that builds the deb and rpm packages. Later versions of nfpm
// import modules that some module proxies lack.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.1"

// build writes all files for the chosen systems to out and prints their sizes and names.
// It first removes the files of an earlier build, so that the checksums cover only this
// build.
func (r *release) build(chosen []system, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	old, _ := filepath.Glob(filepath.Join(out, "a2sscan?[0-9]*"))
	for _, name := range append(old, filepath.Join(out, "SHA256SUMS")) {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	stage, err := os.MkdirTemp("", "a2sscan-build")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage)
	errs := make([]error, len(chosen))
	var all sync.WaitGroup
	// Most of the time goes into compression, which uses one processor, so build as
	// many systems at a time as there are processors.
	turn := make(chan bool, runtime.NumCPU())
	for i, s := range chosen {
		all.Go(func() {
			turn <- true
			defer func() { <-turn }()
			stage := filepath.Join(stage, s.os+"-"+s.arch)
			t, err := r.contents(s, stage)
			if err == nil {
				err = r.writeArchive(s, t, out)
			}
			if err == nil && s.os == "linux" {
				err = errors.Join(r.writePackages(s, t, filepath.Join(stage, "package"), out), r.writeImage(s, t, out))
			}
			if err != nil {
				errs[i] = fmt.Errorf("for %s: %w", s, err)
			}
		})
	}
	if all.Wait(); errors.Join(errs...) != nil {
		return errors.Join(errs...)
	}
	return writeSums(out)
}

// env returns the environment variables for building for the system. They override
// the caller's variables.
func (s system) env() []string {
	return []string{
		"GOOS=" + s.os, "GOARCH=" + s.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off",
	}
}

func (s system) program() string {
	if s.os == "windows" {
		return "a2sscan.exe"
	}
	return "a2sscan"
}

// contents builds the program for a system and returns the files of the archive.
func (r *release) contents(s system, stage string) (fstest.MapFS, error) {
	program := filepath.Join(stage, s.program())
	if _, err := output(s.env(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags",
		"-s -w -X main.releaseVersion="+r.version+" -X main.releaseCommit="+r.commit,
		"-o", program, "./cmd/a2sscan"); err != nil {
		return nil, err
	}
	notes, err := notices(s)
	if err != nil {
		return nil, err
	}
	t := fstest.MapFS{}
	r.add(t, "NOTICES", 0o644, notes)
	sources := map[string]string{s.program(): program, "LICENSE": "LICENSE", "README.md": "README.md"}
	folders := []string{"completions", "man"}
	switch s.os {
	case "linux":
		folders = append(folders, "etc", "grafana", "sysctl", "systemd")
	case "windows":
		folders = nil
	}
	for _, folder := range folders {
		sources[folder] = "packaging/" + folder
	}
	return t, r.addFiles(t, sources)
}

// addFiles adds files and folders from the disk to t. The keys of sources are names in t,
// and the values are paths on the disk.
func (r *release) addFiles(t fstest.MapFS, sources map[string]string) error {
	for name, source := range sources {
		err := filepath.WalkDir(source, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(p)
			mode := fs.FileMode(0o644)
			if strings.HasPrefix(name, "a2sscan") {
				mode = 0o755
			}
			r.add(t, name+filepath.ToSlash(strings.TrimPrefix(p, filepath.FromSlash(source))), mode, data)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds a file to t, and the folders that contain it.
func (r *release) add(t fstest.MapFS, name string, mode fs.FileMode, data []byte) {
	t[name] = &fstest.MapFile{Data: data, Mode: mode, ModTime: r.time}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		t[dir] = &fstest.MapFile{Mode: fs.ModeDir | 0o755, ModTime: r.time}
	}
}

// writeArchive writes the archive for a system. All files are in one folder. The bytes
// of the archive do not depend on the machine.
func (r *release) writeArchive(s system, t fstest.MapFS, out string) error {
	top := fstest.MapFS{}
	for name, f := range t {
		if !f.Mode.IsDir() {
			r.add(top, r.archiveName(s)+"/"+name, f.Mode, f.Data)
		}
	}
	var b bytes.Buffer
	path := filepath.Join(out, r.archiveName(s))
	if s.os == "windows" {
		w := zip.NewWriter(&b)
		return errors.Join(w.AddFS(top), w.Close(), os.WriteFile(path+".zip", b.Bytes(), 0o644))
	}
	w := tar.NewWriter(&b)
	return errors.Join(w.AddFS(top), w.Close(), os.WriteFile(path+".tar.gz", compressed(b.Bytes()), 0o644))
}

// compressed compresses data with gzip, without a file name or a time in the header.
func compressed(data []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // fails only for an invalid level
	z.Write(data)                                         // writing to a Buffer never fails
	z.Close()
	return b.Bytes()
}

// writePackages writes the deb and the rpm package for a Linux architecture. It
// prepares the files in stage: the files of the archive, compressed manual pages, the
// scripts, nfpm.yaml and the changelog that nfpm requires.
func (r *release) writePackages(s system, t fstest.MapFS, stage, out string) error {
	t = maps.Clone(t)
	err := r.addFiles(t, map[string]string{"scripts": "packaging/scripts", "nfpm.yaml": "packaging/nfpm.yaml"})
	if err != nil {
		return err
	}
	pages, _ := fs.Glob(t, "man/*.1") // a constant pattern can't fail
	for _, page := range pages {
		r.add(t, page+".gz", 0o644, compressed(t[page].Data))
	}
	r.add(t, "changelog.yaml", 0o644, fmt.Appendf(nil, `- semver: %s-1
  date: %s
  packager: the a2sscan authors <authors@a2sscan.invalid>
  deb: {urgency: medium, distributions: [unstable]}
  changes: [{note: "Version %s, made of commit %s"}]
`, r.number(), r.time.Format("2006-01-02T15:04:05Z"), r.number(), r.commit))
	if err := os.CopyFS(stage, t); err != nil {
		return err
	}
	for name, f := range t { // make the modes independent of the umask
		if err := os.Chmod(filepath.Join(stage, name), f.Mode.Perm()); err != nil {
			return err
		}
	}
	for _, kind := range []string{"deb", "rpm"} {
		_, err := output([]string{
			"VERSION=" + r.number(), "ARCH=" + s.arch,
			"SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.time.Unix(), 10),
			"GOOS=", "GOARCH=", "GOFLAGS=", "CGO_ENABLED=0", // build nfpm for this machine
		}, "go", "-C", stage, "run", nfpm, "package", "--config", "nfpm.yaml", "--packager", kind, "--target", out+"/")
		if err != nil {
			return fmt.Errorf("build the %s package: %w", kind, err)
		}
	}
	return nil
}

// writeSums writes the checksums of the archives, packages and images in the
// format of sha256sum -c. It prints the size and the name of each file.
func writeSums(out string) error {
	names, _ := filepath.Glob(filepath.Join(out, "a2sscan?[0-9]*"))
	var sums strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), filepath.Base(name))
		fmt.Printf("%9d  %s\n", len(data), name)
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}
