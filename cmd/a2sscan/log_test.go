package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/a2sscan/a2sscan/scanner"
)

// hostileText has what must not reach a terminal or a reader of lines: control
// and C1 characters, the bidirectional ones, line separators, bytes that are not
// UTF-8, and a line that looks like one of ours.
const hostileText = "a\x1b[2J\r\n\x9b31m\u009b\u202e\u2066\u2028\u200b\x00\xff level=ERROR msg=\"forged\" =\t{"

type hostileStringer struct{}

func (hostileStringer) String() string { return hostileText }

// TestLogHostile: whichever way hostile text comes into a line, it stays one
// line, and all of it is visible.
func TestLogHostile(t *testing.T) {
	for _, json := range []bool{false, true} {
		var b bytes.Buffer
		log := slog.New(newLogHandler(&b, &logFlags{format: logFormat{json: json}}))
		log.Info("text", "text", hostileText, "error", errors.New(hostileText), "wrapped", fmt.Errorf("x: %w", errors.New(hostileText)),
			"stringer", hostileStringer{}, "list", []string{hostileText}, "any", struct{ S string }{hostileText},
			slog.Group("group", "text", hostileText))
		log.Info(hostileText)
		out := b.String()
		if n := strings.Count(out, "\n"); n != 2 {
			t.Errorf("json %v: %d lines:\n%q", json, n, out)
		}
		for _, r := range strings.ReplaceAll(out, "\n", "") {
			if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
				t.Errorf("json %v: %U in\n%q", json, r, out)
			}
		}
		if n := strings.Count(out, `\\u202e`); n != 8 {
			t.Errorf("json %v: shown %d times:\n%s", json, n, out)
		}
	}
}

// TestLogLong: a text does not make a line of any length.
func TestLogLong(t *testing.T) {
	var b bytes.Buffer
	slog.New(newLogHandler(&b, &logFlags{})).Info("text", "text", strings.Repeat("x", 1e6))
	if n := b.Len(); n > maxLogged+200 {
		t.Errorf("%d bytes", n)
	}
}

// failing is a disk that is full.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }
func (failing) Close() error              { return nil }

// TestLogLost: that a log can't be written any more is said once.
func TestLogLost(t *testing.T) {
	var said bytes.Buffer
	term := newTerminal(&said)
	log := slog.New(newLogHandler(&logFile{terminal: term, w: failing{}, name: "log\x1b"}, &logFlags{}))
	log.Info("a")
	log.Info("b")
	if want := "a2sscan: log log\\x1b: can't be written: no space left on device; the scan goes on\n"; said.String() != want {
		t.Errorf("said %q", said.String())
	}
}

// TestObserver: what goes on and on has a line when it begins, and then one a
// minute at most.
func TestObserver(t *testing.T) {
	var b bytes.Buffer
	o := &observer{log: slog.New(newLogHandler(&b, &logFlags{})), out: &output{}, rate: 1000}
	var s scanner.Stats
	for second := range 361 {
		s.Elapsed, s.Rate = time.Duration(second)*time.Second, 1000
		switch {
		case second >= 250:
			s.Rate = 1100
		case second >= 100:
			s.Socket.KernelDrops += 2
			s.SendErrors++
			s.SendFaults[scanner.SendForbidden]++
			fallthrough
		case second >= 60:
			s.Waited[scanner.WaitOutput] += 900_000
		}
		s.Sent[0] += 100
		o.look(&s)
	}
	want := []string{
		`level=WARN msg="kernel drops" datagrams=2 in_all=2 receive_buffer=0`,
		`level=WARN msg="send errors" datagrams=1 in_all=1 kinds="1 forbidden"`,
		`level=INFO msg="rate limited" by=output part=0.9 reached=100 settled=0`,
		`level=WARN msg="kernel drops" datagrams=120 in_all=122 receive_buffer=0`,
		`level=WARN msg="send errors" datagrams=60 in_all=61 kinds="61 forbidden"`,
		`level=WARN msg="kernel drops" datagrams=120 in_all=242 receive_buffer=0`,
		`level=WARN msg="send errors" datagrams=60 in_all=121 kinds="121 forbidden"`,
		`level=INFO msg="rate changed" from=1k to=1.1k`,
		`level=WARN msg="kernel drops" datagrams=58 in_all=300 receive_buffer=0`,
		`level=WARN msg="send errors" datagrams=29 in_all=150 kinds="150 forbidden"`,
		`level=INFO msg="rate kept" reached=100`,
	}
	var got []string
	for line := range strings.Lines(b.String()) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), " ")
		got = append(got, line)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestObserverUnlimited: a scan without a rate has one that it comes to, and
// no number is one that JSON does not know.
func TestObserverUnlimited(t *testing.T) {
	var b bytes.Buffer
	o := &observer{log: slog.New(newLogHandler(&b, &logFlags{format: logFormat{json: true}})), out: &output{}, rate: math.Inf(1)}
	s := scanner.Stats{Elapsed: time.Minute, Rate: math.Inf(1), Settled: 2e5}
	s.Waited[scanner.WaitLosses] = 30e6
	s.Sent[0] = 12e6
	o.look(&s)
	s.Rate, s.Elapsed = 5000, 61*time.Second
	o.look(&s)
	for _, want := range []string{
		`"level":"INFO","msg":"rate limited","by":"losses","part":0.5,"reached":200000,"settled":200000}`,
		`"level":"INFO","msg":"rate changed","from":"unlimited","to":"5k"}`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}
