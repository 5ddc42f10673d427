package master

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
)

// Kind is a format of lists in files.
type Kind struct {
	Name string // for messages

	// Sniff reports whether a list that begins with head has this format. 4096 bytes
	// are enough.
	Sniff func(head []byte) bool

	// Read passes the entries of a list to handle, in order, with their numbers from 1. The
	// last argument of handle says why an entry has no usable address. The Server is valid
	// until handle returns. Read returns an error of r or handle, but may replace one that
	// wraps ErrTooMuch or io.EOF. Other errors wrap ErrMalformed or ErrTooMuch. Read
	// keeps only one entry in memory, and does not remove duplicates.
	Read func(r io.Reader, handle func(item int, s *Server, bad error) error) error
}

// Kinds are the formats in which masters send lists.
var Kinds = []Kind{
	{"Web API JSON (GetServersAtAddress)", isAtAddress.Match, readAnswers},
	{"Web API JSON (GetServerList)", isAnswer.Match, readAnswers},
	{"Web API JSON (one server per line)", isElement.Match, readElements},
}

// These match the beginnings of lists. Only GetServersAtAddress sends "success" and
// "gmsindex". An array is an answer if it is empty, or if it has objects with the key
// "addr". For isElement, the object of the first server must end on the line on which it
// begins.
var (
	isAnswer    = regexp.MustCompile(`^\x{FEFF}?\s*(\{\s*"response"|\[\s*(\]|\{(?s:.*)"addr"))`)
	isElement   = regexp.MustCompile(`^\x{FEFF}?\s*\{[ \t]*"addr"\s*:\s*"[^"]*"\s*,\s*"(gameport|gmsindex)"[^\n]*(\}[ \t\r]*\n|$)`)
	isAtAddress = regexp.MustCompile(`^\x{FEFF}?\s*\{\s*"response"\s*:\s*\{(\s*"success"|(?s:.*)"gmsindex")`)
)

func readAnswers(r io.Reader, handle func(int, *Server, error) error) error {
	in := bufio.NewReader(r)
	if b, _ := in.Peek(3); string(b) == "\uFEFF" {
		in.Discard(3)
	}
	item := 0
	err := readJSON(&budget{r: in, total: math.MaxInt64}, func(s *Server, bad error) error {
		item++
		return handle(item, s, bad)
	})
	if errors.Is(err, ErrRefused) {
		return fmt.Errorf("%w: the answer reports a failure", ErrMalformed)
	}
	return err
}

// readElements reads the servers of an answer that jq or another tool has written one
// per line. A line that is not JSON does not affect the other lines.
func readElements(r io.Reader, handle func(int, *Server, error) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxItem)
	item := 1
	for ; lines.Scan(); item++ {
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\uFEFF")))
		if len(line) == 0 {
			continue
		}
		s, bad, err := readServer(newDecoder(bytes.NewReader(line)))
		if err != nil {
			bad = explainJSON(err)
		}
		if err := handle(item, s, bad); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("%w: line %d is longer than %d MiB", ErrTooMuch, item, maxItem>>20)
	}
	return lines.Err()
}
