package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// nfpm is the program that builds the deb and rpm packages. Its later versions
// import modules that some module proxies lack.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.1"

// build writes all files for the chosen systems to out and prints their sizes and
// names.
func (r *release) build(chosen []system, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if err := empty(out); err != nil {
		return err
	}
	stage, err := os.MkdirTemp("", "a2sscan-build")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage)
	for _, s := range chosen {
		t, err := r.contents(s, stage)
		if err != nil {
			return err
		}
		if err := r.writeArchive(s, t, out); err != nil {
			return err
		}
		if err := r.writeSBOM(s, t.find(s.program()), out); err != nil {
			return err
		}
		if s.os != "linux" {
			continue
		}
		if err := r.writePackages(s, t, filepath.Join(stage, s.arch), out); err != nil {
			return err
		}
		if err := writeImageRoot(t, filepath.Join(out, "oci", s.arch)); err != nil {
			return err
		}
		if err := r.writeImageArchive(s, t, out); err != nil {
			return err
		}
	}
	if err := r.writeCatalogs(out); err != nil {
		return err
	}
	return writeSums(out)
}

// empty creates the folder out and removes the files of an earlier build from it,
// so that the checksums cover only this build.
func empty(out string) error {
	for _, pattern := range []string{"a2sscan?[0-9]*", "SHA256SUMS", "oci", "homebrew", "scoop"} {
		old, err := filepath.Glob(filepath.Join(out, pattern))
		if err != nil {
			return err
		}
		for _, name := range old {
			if err := os.RemoveAll(name); err != nil {
				return err
			}
		}
	}
	return os.MkdirAll(out, 0o755)
}

// env returns the environment variables for building for the system. They override
// the caller's variables.
func (s system) env() []string {
	return []string{
		"GOOS=" + s.os, "GOARCH=" + s.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off",
	}
}

// program returns the name of the executable.
func (s system) program() string {
	if s.os == "windows" {
		return "a2sscan.exe"
	}
	return "a2sscan"
}

// compile builds the program for a system and returns the executable.
func (r *release) compile(s system, stage string) ([]byte, error) {
	to := filepath.Join(stage, s.program())
	cmd := command(s.env(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags",
		"-s -w -X main.releaseVersion="+r.version+" -X main.releaseCommit="+r.commit,
		"-o", to, "./cmd/a2sscan")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build for %s: %w", s, err)
	}
	return os.ReadFile(to)
}

// contents builds the program for a system and returns the files of the archive.
func (r *release) contents(s system, stage string) (t tree, err error) {
	program, err := r.compile(s, stage)
	if err != nil {
		return nil, err
	}
	t.add(s.program(), 0o755, program)
	notes, err := notices(s)
	if err != nil {
		return nil, err
	}
	t.add("NOTICES", 0o644, notes)
	for _, name := range []string{"LICENSE", "README.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		t.add(name, 0o644, data)
	}
	for _, folder := range s.folders() {
		if err := t.addFolder(folder, "packaging/"+folder); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(t, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return t, nil
}

// folders returns the subfolders of packaging that are useful on the system.
func (s system) folders() []string {
	switch s.os {
	case "linux":
		return []string{"completions", "etc", "grafana", "man", "sysctl", "systemd"}
	case "windows":
		return nil
	}
	return []string{"completions", "man"}
}

// writeArchive writes the archive for a system.
func (r *release) writeArchive(s system, t tree, out string) error {
	name := r.archiveName(s)
	pack, suffix := tree.tarGz, ".tar.gz"
	if s.os == "windows" {
		pack, suffix = tree.zip, ".zip"
	}
	data, err := pack(t, name, r.time)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, name+suffix), data, 0o644)
}

// writePackages writes the deb and the rpm package for a Linux architecture. It
// prepares their files in stage.
func (r *release) writePackages(s system, t tree, stage, out string) error {
	t, err := r.packaged(t)
	if err != nil {
		return err
	}
	if err := t.write(stage); err != nil {
		return err
	}
	for _, kind := range []string{"deb", "rpm"} {
		env := []string{
			"VERSION=" + r.number(), "ARCH=" + s.arch,
			"SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.time.Unix(), 10),
			"GOOS=", "GOARCH=", "GOFLAGS=", "CGO_ENABLED=0", // nfpm runs on this machine
		}
		cmd := command(env, "go", "run", nfpm, "package",
			"--config", "nfpm.yaml", "--packager", kind, "--target", out+"/")
		cmd.Dir = stage
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("nfpm for %s: %w: %s", kind, err, said)
		}
	}
	return nil
}

// packaged returns the files that nfpm.yaml refers to: the files of the archive,
// with compressed manual pages, then the scripts, nfpm.yaml itself and the
// changelog.
func (r *release) packaged(t tree) (tree, error) {
	t = slices.Clone(t)
	for i := range t {
		if !t[i].isManual() {
			continue
		}
		packed, err := gzipped(t[i].data)
		if err != nil {
			return nil, err
		}
		t[i].name, t[i].data = t[i].name+".gz", packed
	}
	if err := t.addFolder("scripts", "packaging/scripts"); err != nil {
		return nil, err
	}
	config, err := os.ReadFile("packaging/nfpm.yaml")
	t.add("nfpm.yaml", 0o644, config)
	t.add("changelog.yaml", 0o644, []byte(r.changelog()))
	return t, err
}

// changelog returns the changelog that nfpm requires, with one entry for this
// version.
func (r *release) changelog() string {
	return fmt.Sprintf(`- semver: %s-1
  date: %s
  packager: %s
  deb:
    urgency: medium
    distributions: [unstable]
  changes:
    - note: Version %s, made of commit %s
`, r.number(), r.time.Format("2006-01-02T15:04:05Z"), maintainer, r.number(), r.commit)
}

// license is the licence of the program, as an SPDX identifier.
const license = "MIT"

// maintainer must be the same as in nfpm.yaml.
const maintainer = "the a2sscan authors <authors@a2sscan.invalid>"

// writeSums writes the checksums of the archives, packages, images and SBOMs in the
// format of sha256sum -c. It prints the size and the name of each file.
func writeSums(out string) error {
	names, err := filepath.Glob(filepath.Join(out, "a2sscan?[0-9]*"))
	if err != nil {
		return err
	}
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
