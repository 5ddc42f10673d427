// Package playerkey manages the secret key of a series of censuses. Player names
// are replaced by hashes under this key. The key is in a file that only its owner
// may read.
package playerkey

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/sink/record"
)

// DefaultName is the name of the key file, in the folder of the census.
const DefaultName = "a2sscan-player.key"

// prefix begins the only line of a key file. 64 hexadecimal digits follow it.
const prefix = "a2sscan-player-key-1 "

// Key is the key of one scan. If it is nil, names are written as they are.
type Key struct {
	path string
	key  record.NameKey
	made bool // it was created at random and is not in a file yet
}

// Open reads the key for a census that is written to output. If path is empty, the
// key is beside the output. If there is no such file, Open creates a random key,
// which Store writes.
func Open(path, output string) (*Key, error) {
	if path == "" {
		if info, err := os.Stat(output); err == nil && !info.Mode().IsRegular() {
			return nil, console.Fail(console.ExitUsage, "--no-player-names: %s has no folder for the key", console.Plain(output, 100)).
				WithHint("name a file for it: --player-key FILE")
		}
		path = filepath.Join(filepath.Dir(output), DefaultName)
	}
	k := &Key{path: path}
	err := k.read()
	if errors.Is(err, fs.ErrNotExist) {
		k.made = true
		_, err = rand.Read(k.key[:])
	}
	return k, err
}

// read reads the key file.
func (k *Key) read() error {
	f, err := os.Open(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil {
		return console.Fail(console.ExitInput, "player key: %w", err)
	}
	defer f.Close()
	if err := k.checkPrivate(f); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(f, 200))
	if err != nil {
		return console.Fail(console.ExitInput, "player key: %w", err)
	}
	digits, ok := bytes.CutPrefix(bytes.TrimSpace(text), []byte(prefix))
	if ok && len(digits) == hex.EncodedLen(len(k.key)) {
		if _, err = hex.Decode(k.key[:], digits); err == nil {
			return nil
		}
	}
	return console.Fail(console.ExitInput, "%s is no player key", console.Plain(k.path, 200)).
		WithHint("name a new file, and a2sscan makes the key")
}

// checkPrivate returns an error for a key file that other users may read. On Windows it
// accepts any file, because the mode says nothing there. It also accepts a pipe.
func (k *Key) checkPrivate(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return console.Fail(console.ExitInput, "player key: %w", err)
	}
	if runtime.GOOS == "windows" || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	name := console.Plain(k.path, 200)
	return console.Fail(console.ExitUsage, "%s: other users may read the player key", name).
		WithHint("chmod 600 %s; whoever has the key can test guesses of names", name)
}

// Store writes a key that Open has created. It never replaces a file.
func (k *Key) Store() error {
	if k == nil || !k.made {
		return nil
	}
	err := k.create()
	if errors.Is(err, fs.ErrExist) || errors.Is(err, disk.ErrLocked) {
		return console.Fail(console.ExitUsage, "another scan has just made %s", console.Plain(k.path, 200)).
			WithHint("start this one again: it takes that key")
	}
	if err != nil {
		return console.Fail(console.ExitOutput, "player key: %w", err)
	}
	k.made = false
	return nil
}

// create creates the file. It is either complete or does not exist.
func (k *Key) create() error {
	f, err := disk.Create(k.path, 0o600)
	if err != nil {
		return err
	}
	if _, there := os.Lstat(k.path); there == nil { // no other scan can create it from here on
		return errors.Join(fs.ErrExist, f.Discard())
	}
	if _, err = f.WriteString(prefix + hex.EncodeToString(k.key[:]) + "\n"); err == nil {
		err = f.Commit()
	}
	if err != nil {
		f.Discard()
	}
	return err
}

// Key returns the key for the hashes; nil if there is none.
func (k *Key) Key() *record.NameKey {
	if k == nil {
		return nil
	}
	return &k.key
}

// ID returns an identifier of the key that does not reveal it; "" if there is no
// key.
func (k *Key) ID() string {
	if k == nil {
		return ""
	}
	return k.key.ID()
}
