package checkpoint

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestSyncPipe: syncing a pipe without a reader does not block.
func TestSyncPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- syncFile(pipe) }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("syncFile waits for a reader of the pipe")
	}
}
