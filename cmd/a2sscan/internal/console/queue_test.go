package console

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestQueue: messages to a reader that stalls are kept up to a limit, in order, and the others are
// counted. Nobody waits for them.
func TestQueue(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	term := New(w)
	term.Say("%s", strings.Repeat("x", MaxLine))
	const many = 2000 // more than the pipe and the queue take
	for i := range many {
		term.Say("%d %s", i, strings.Repeat("y", 300))
	}
	lines, next := bufio.NewScanner(r), 0
	lines.Scan()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines.Scan() && !strings.Contains(lines.Text(), "the end") {
			if want := fmt.Sprintf("a2sscan: %d y", next); strings.HasPrefix(lines.Text(), want) {
				next++
			} else if want := fmt.Sprintf("a2sscan: %s dropped while nobody read them", Plural(many-next, "line")); lines.Text() == want {
				next = many
			} else {
				t.Errorf("after %d: %.60q", next, lines.Text())
			}
		}
	}()
	q := term.out.(*queue)
	<-q.add(w, nil) // all that waited is written
	term.Say("the end")
	<-ended
	if next != many {
		t.Errorf("%d of %d lines were written or counted", next, many)
	}
}
