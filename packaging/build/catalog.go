package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"text/template"
)

// home is the project's page, downloads is the beginning of the URLs of archives,
// and summary describes the program in the formula and the manifest.
const (
	home      = "https://github.com/a2sscan/a2sscan"
	downloads = home + "/releases/download/"
	summary   = "Query game servers in bulk over Valve's A2S protocol"
)

// archiveName returns the name of the archive for a system, without its suffix.
func (r *release) archiveName(s system) string {
	return fmt.Sprintf("a2sscan-%s-%s-%s", r.number(), s.os, s.arch)
}

// archive is the URL of an archive and its checksum.
type archive struct{ URL, SHA256 string }

// archiveOf returns the URL and the checksum of an archive that has been written to
// out.
func (r *release) archiveOf(out string, s system, suffix string) (archive, error) {
	name := r.archiveName(s) + suffix
	data, err := os.ReadFile(filepath.Join(out, name))
	return archive{downloads + r.version + "/" + name, fmt.Sprintf("%x", sha256.Sum256(data))}, err
}

// formula is the template of the Homebrew formula.
var formula = template.Must(template.New("formula").Parse(`class A2sscan < Formula
  desc "{{.Summary}}"
  homepage "{{.Home}}"
  version "{{.Version}}"
  license "{{.License}}"
{{range $os, $archs := .Systems}}
  on_{{$os}} do
{{- range $arch, $file := $archs}}
    on_{{$arch}} do
      url "{{$file.URL}}"
      sha256 "{{$file.SHA256}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "a2sscan"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/a2sscan.bash" => "a2sscan"
    zsh_completion.install "completions/a2sscan.zsh" => "_a2sscan"
    fish_completion.install "completions/a2sscan.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/a2sscan version")
  end
end
`))

// writeCatalogs writes the Homebrew formula and the Scoop manifest. It skips a
// catalog if one of its archives was not built.
func (r *release) writeCatalogs(out string) error {
	for _, write := range []func(string) error{r.writeFormula, r.writeScoop} {
		if err := write(out); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// writeFormula writes the Homebrew formula. Homebrew calls the architectures intel
// and arm.
func (r *release) writeFormula(out string) error {
	systems := map[string]map[string]archive{}
	for _, s := range []struct{ os, goos string }{{"macos", "darwin"}, {"linux", "linux"}} {
		systems[s.os] = map[string]archive{}
		for arch, goarch := range map[string]string{"intel": "amd64", "arm": "arm64"} {
			a, err := r.archiveOf(out, system{s.goos, goarch}, ".tar.gz")
			if err != nil {
				return err
			}
			systems[s.os][arch] = a
		}
	}
	var b bytes.Buffer
	err := formula.Execute(&b, map[string]any{
		"Summary": summary, "Home": home, "Version": r.number(), "License": license, "Systems": systems,
	})
	if err != nil {
		return err
	}
	return writeIn(filepath.Join(out, "homebrew"), "a2sscan.rb", b.Bytes())
}

// writeScoop writes the Scoop manifest.
func (r *release) writeScoop(out string) error {
	a, err := r.archiveOf(out, system{"windows", "amd64"}, ".zip")
	if err != nil {
		return err
	}
	type files struct {
		URL  string `json:"url"`
		Hash string `json:"hash"`
		Dir  string `json:"extract_dir"`
	}
	text, err := json.MarshalIndent(struct {
		Version      string           `json:"version"`
		Description  string           `json:"description"`
		Homepage     string           `json:"homepage"`
		License      string           `json:"license"`
		Architecture map[string]files `json:"architecture"`
		Bin          string           `json:"bin"`
	}{
		r.number(), summary, home, license,
		map[string]files{"64bit": {a.URL, a.SHA256, r.archiveName(system{"windows", "amd64"})}},
		"a2sscan.exe",
	}, "", "    ")
	if err != nil {
		return err
	}
	return writeIn(filepath.Join(out, "scoop"), "a2sscan.json", append(text, '\n'))
}

func writeIn(dir, name string, data []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), data, 0o644)
}
