package output

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Stage provides the path for writing a file that may belong in an object store. A
// file whose name begins with s3:// is written to a temporary folder, and Finish
// uploads it. Any other file is written in place.
type Stage struct {
	path    string
	dir     string // temporary folder; empty: the file is written in place
	to      store.Location
	client  *store.Client
	replace bool
}

// NewStage prepares to write the file called name. Without replace it returns an
// error if name is an object that exists.
func NewStage(name string, replace bool) (*Stage, error) {
	if !store.IsURL(name) {
		return &Stage{path: name}, nil
	}
	client, to, err := store.Find(strings.TrimSuffix(name, "/"))
	if err == nil && to.Key == "" {
		err = &store.Error{Problem: "names a bucket and no object", Hint: "s3://" + to.Bucket + "/NAME"}
	}
	if err == nil {
		if _, missing := client.Stat(context.Background(), to); missing == nil && !replace {
			err = &store.Error{Problem: "exists", Err: fs.ErrExist, Hint: "another -o, or --force to replace it"}
		} else {
			err = client.Check(context.Background(), to)
		}
	}
	s := &Stage{to: to, client: client, replace: replace}
	if err == nil {
		s.dir, err = os.MkdirTemp("", "a2sscan-upload-")
	}
	if err != nil {
		return nil, store.Failure(console.ExitOutput, "can't create", name, err)
	}
	s.path = filepath.Join(s.dir, to.Base())
	return s, nil
}

// Path returns the path of the file or folder to write to.
func (s *Stage) Path() string { return s.path }

// Finish uploads all files in the temporary folder. If an upload fails, it keeps
// the folder.
func (s *Stage) Finish() error {
	if s.dir == "" {
		return nil
	}
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return console.Fail(console.ExitOutput, "can't upload %s: %w", console.Plain(s.path, 200), err)
	}
	for _, file := range files {
		path, to := filepath.Join(s.dir, file.Name()), s.to.Beside(file.Name())
		if strings.HasSuffix(path, disk.PartSuffix) {
			continue
		}
		if _, err := s.client.Put(context.Background(), path, to, s.replace); err != nil {
			s.dir = "" // so that Drop keeps the folder
			f := store.Failure(console.ExitOutput, "can't upload", to.String(), err)
			f.Hint += "; the file is kept: " + console.Plain(path, 300)
			return f
		}
	}
	s.Drop()
	return nil
}

// Drop removes the temporary folder with the files that were not uploaded.
func (s *Stage) Drop() {
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
}
