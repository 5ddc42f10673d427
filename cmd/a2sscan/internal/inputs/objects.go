package inputs

import (
	"context"
	"io"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// Objects divides arguments into lists that are objects of a store, and the rest. A
// prefix stands for all objects below it.
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

// object is a list in a store.
func object(name string) (list.Source, error) {
	c, err := store.Usual()
	if err != nil {
		return list.Source{}, err
	}
	l, err := store.Parse(name)
	if err != nil {
		return list.Source{}, err
	}
	size, err := c.Size(context.Background(), l)
	return list.Source{Name: name, Size: size, Open: func() (io.ReadCloser, error) {
		r, err := c.Open(l)
		if err != nil {
			return nil, objectFailure(name, err)
		}
		return r, nil
	}}, err
}

// objectFailure is the error of a list that can't be read.
func objectFailure(name string, err error) error {
	return console.Fail(console.ExitInput, "%s: %v", console.Plain(store.Shown(name), 200), output.Cause(err)).
		WithHint("%s", output.Advice(err))
}
