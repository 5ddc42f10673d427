package census_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/a2sscan/a2sscan/sink/census"
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
	found, err := census.Diff(night("monday", monday), night("tuesday", tuesday), census.DiffOptions{},
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

func ExampleJoin() {
	err := census.Join(night("monday", monday), night("tuesday", tuesday), func(before, after *census.Server) error {
		switch {
		case before == nil || !before.Answered():
			fmt.Printf("%s appeared\n", after.Addr)
		case after == nil || !after.Answered():
			fmt.Printf("%s did not answer again\n", before.Addr)
		default:
			fmt.Printf("%s: %d people, then %d\n", after.Addr, before.People, after.People)
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// 203.0.113.7:27015: 2 people, then 3
	// 203.0.113.8:27015 did not answer again
}

func ExampleAggregate() {
	stats, err := census.Aggregate(night("monday", monday))
	if err != nil {
		panic(err)
	}
	fmt.Println(stats.All.Servers, "servers with", stats.All.People, "people")
	// Output: 2 servers with 7 people
}

func ExampleCensus_Read() {
	c := night("monday", monday)
	err := c.Read(func(s *census.Server) error {
		fmt.Printf("%s %s %d\n", s.Addr, s.Name, s.People)
		return nil
	})
	if err != nil {
		panic(err)
	}
	// Unordered output:
	// 203.0.113.7:27015 One 2
	// 203.0.113.8:27015 Two 5
}
