package scan

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/sink/record"
)

// DefaultPlayerKey is the name of the key file, in the folder of the census.
const DefaultPlayerKey = "a2sscan-player.key"

// prefix is the beginning of the only line of a key file. 64 hexadecimal digits follow.
const prefix = "a2sscan-player-key-1 "

// PlayerKey is the key with which a scan hashes player names. If it is nil, records
// contain the names.
type PlayerKey struct {
	path string
	key  record.NameKey
	made bool // OpenPlayerKey created the key, and no file contains the key yet
}

// OpenPlayerKey reads the key for a census that is written to output. If path is empty, the key
// file is beside the output. If there is no such file, OpenPlayerKey creates a random key, which
// Store writes. OpenPlayerKey refuses a key file that other users may read, except on Windows,
// where the mode of a file does not show who may read it.
func OpenPlayerKey(path, output string) (*PlayerKey, error) {
	if path == "" {
		if info, err := os.Stat(output); err == nil && !info.Mode().IsRegular() {
			return nil, console.Fail(console.ExitUsage, "--no-player-names needs a file for its key, because the output %s is not a regular file", console.Plain(output, 100)).
				WithHint("name a file for the key: --player-key FILE")
		}
		path = filepath.Join(filepath.Dir(output), DefaultPlayerKey)
	}
	k, name := &PlayerKey{path: path}, console.Plain(path, 200)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		k.made = true
		_, err = rand.Read(k.key[:])
		return k, err
	}
	if err == nil && runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return nil, console.Fail(console.ExitUsage, "%s: other users may read the player key", name).
			WithHint("with the key, other users can test guesses of player names; to protect the key, run: chmod 600 %s", name)
	}
	text, err := disk.ReadFile(path, 1<<20)
	if err != nil {
		return nil, console.Fail(console.ExitInput, "player key: %w", err)
	}
	digits, ok := strings.CutPrefix(strings.TrimSpace(string(text)), prefix)
	key, err := hex.DecodeString(digits)
	if !ok || err != nil || len(key) != len(k.key) {
		return nil, console.Fail(console.ExitInput, "%s is not a player key", name).
			WithHint("name a new file, and a2sscan creates a key")
	}
	copy(k.key[:], key)
	return k, nil
}

// Store writes a key that OpenPlayerKey has created. It never replaces an existing file,
// and never leaves a partial file.
func (k *PlayerKey) Store() error {
	if k == nil || !k.made {
		return nil
	}
	f, err := disk.Create(k.path, 0o600)
	if err == nil {
		if _, there := os.Lstat(k.path); there == nil { // disk.Create holds a lock: no other scan can create the file now
			err = fs.ErrExist
		} else if _, err = f.WriteString(prefix + hex.EncodeToString(k.key[:]) + "\n"); err == nil {
			err = f.Commit()
		}
		if err != nil {
			f.Discard()
		}
	}
	switch {
	case errors.Is(err, fs.ErrExist) || errors.Is(err, disk.ErrLocked):
		return console.Fail(console.ExitUsage, "another scan has just created %s", console.Plain(k.path, 200)).
			WithHint("start this scan again: it will use the key in this file")
	case err != nil:
		return console.Fail(console.ExitOutput, "player key: %w", err)
	}
	k.made = false
	return nil
}

// Key returns the key for the hashes, or nil if there is none.
func (k *PlayerKey) Key() *record.NameKey {
	if k == nil {
		return nil
	}
	return &k.key
}

// ID returns an identifier of the key that does not reveal the key. It returns "" if
// there is no key.
func (k *PlayerKey) ID() string {
	if k == nil {
		return ""
	}
	return k.key.ID()
}
