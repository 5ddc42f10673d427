package sink_test

import (
	"fmt"
	"io"
	"log"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/wire"
)

func Example() {
	dir, err := os.MkdirTemp("", "census")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "census.zst")

	w, err := sink.Create(path, sink.Options{})
	if err != nil {
		log.Fatal(err)
	}
	result := &scanner.Result{ // as scanner.Scan gives it
		Addr:   netip.MustParseAddrPort("203.0.113.7:27015"),
		Status: scanner.StatusNoReply,
		Err:    [wire.NumQuestions]wire.Error{wire.ErrTimeout},
	}
	if err := w.Write("nightly", result); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := sink.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for {
		line, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", line)
	}
	fmt.Println(r.Damage().Truncated, "bytes truncated")
	// Output:
	// {"schema":1,"scan":"nightly","ip":"203.0.113.7","port":27015,"addr":"203.0.113.7:27015","status":"no_reply","errors":{"info":"timeout"}}
	// 0 bytes truncated
}
