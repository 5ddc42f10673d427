package inputs

import (
	"context"
	"io"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// Objects separates the arguments that name lists in an object store from the rest.
// A prefix stands for all lists below it.
func Objects(args []string) (lists []list.Source, rest []string, err error) {
	for _, arg := range args {
		if !store.IsURL(arg) {
			rest = append(rest, arg)
			continue
		}
		names, err := store.Lists([]string{arg})
		if err != nil {
			return nil, nil, objectFailure(arg, err)
		}
		for _, name := range names {
			source, err := object(name)
			if err != nil {
				return nil, nil, objectFailure(name, err)
			}
			lists = append(lists, source)
		}
	}
	return lists, rest, nil
}

// object returns an object of a store as a source of targets.
func object(name string) (list.Source, error) {
	c, err := store.Usual()
	if err != nil {
		return list.Source{}, err
	}
	l, err := store.Parse(name)
	if err != nil {
		return list.Source{}, err
	}
	o, err := c.Stat(context.Background(), l)
	return list.Source{Name: name, Size: o.Bytes, Open: func() (io.ReadCloser, error) {
		r, err := c.Open(l)
		if err != nil {
			return nil, objectFailure(name, err)
		}
		return r, nil
	}}, err
}

// objectFailure returns the error for a list in a store that can't be read.
func objectFailure(name string, err error) error {
	return console.Fail(console.ExitInput, "%s: %v", console.Plain(store.Shown(name), 200), store.Cause(err)).
		WithHint("%s", store.Advice(err))
}
