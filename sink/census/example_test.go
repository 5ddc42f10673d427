package census_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/wire"
)

// Two nights of a small list.
const (
	monday = `{"schema":1,"ip":"203.0.113.7","port":27015,"addr":"203.0.113.7:27015","status":"ok","info":{"name":"One","version":"1","players":3,"bots":1}}
{"schema":1,"ip":"203.0.113.8","port":27015,"addr":"203.0.113.8:27015","status":"ok","info":{"name":"Two","version":"1","players":5,"bots":0}}
`
	tuesday = `{"schema":1,"ip":"203.0.113.8","port":27015,"addr":"203.0.113.8:27015","status":"no_reply"}
{"schema":1,"ip":"203.0.113.7","port":27015,"addr":"203.0.113.7:27015","status":"ok","info":{"name":"One","version":"2","players":4,"bots":1}}
`
)

func night(name, records string) *census.Census {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(records), 0o666); err != nil {
		panic(err)
	}
	c, err := census.Open([]string{path}, census.Options{})
	if err != nil {
		panic(err)
	}
	return c
}

func ExampleDiff() {
	found, err := census.Diff(night("monday", monday), night("tuesday", tuesday), nil, false,
		func(c *census.Change) error {
			fmt.Println(c.Kind, c.Addr, c.Name)
			return nil
		})
	if err != nil {
		panic(err)
	}
	fmt.Println("unchanged:", found.Same)
	// Output:
	// version 203.0.113.7:27015 One
	// gone 203.0.113.8:27015 Two
	// unchanged: 0
}

func ExampleChanged() {
	before := census.NewServer(&scanner.Result{Status: scanner.StatusOK, HasInfo: true, Info: wire.Info{
		Has: wire.HasName | wire.HasPlayers, Name: []byte("One"), Players: 3,
	}})
	after := census.NewServer(&scanner.Result{Status: scanner.StatusOK, HasInfo: true, Info: wire.Info{
		Has: wire.HasName | wire.HasPlayers, Name: []byte("Number one"), Players: 4,
	}})
	fmt.Println(census.Changed(&before, &after))
	// Output: [renamed] [players]
}

func ExampleCensus_Stats() {
	stats := night("monday", monday).Stats()
	fmt.Println(stats.All.Servers, "servers with", stats.All.People, "people")
	// Output: 2 servers with 7 people
}

func ExampleCensus_Servers() {
	night("monday", monday).Servers(func(s *census.Server) {
		fmt.Printf("%s %s %d\n", s.Addr(), s.Name, s.People)
	})
	// Output:
	// 203.0.113.7:27015 One 2
	// 203.0.113.8:27015 Two 5
}
