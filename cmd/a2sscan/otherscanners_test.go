package main

import (
	"slices"
	"testing"
)

func TestOurArguments(t *testing.T) {
	got, err := ourArguments([]string{"scan", "-iL", "list", "--", "-oX"})
	if want := []string{"scan", "--list", "list", "--", "-oX"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q %v, want %q", got, err, want)
	}
	for _, arg := range []string{"-oJ", "-sU", "-Pn"} {
		if _, err := ourArguments([]string{"scan", arg, "x"}); err == nil {
			t.Errorf("%s is accepted", arg)
		}
	}
}

func TestOurFlag(t *testing.T) {
	names := []string{"rate", "shard", "list"}
	for flag, want := range map[string]string{
		"max-rate": "here that is --rate", "shards": "here that is --shard I/N", "includefile": "here that is --list",
		"host": "here that is the address itself, without a flag", "banners": "", "nonsense": "",
		"limit": "here that is nothing: head -n N ends a command that prints lines", "no-color": "here that is NO_COLOR=1 in the environment",
		"processes": "here that is --shard I/N, a process each",
	} {
		if got := ourFlag(flag, names); got != want {
			t.Errorf("%s: %q, want %q", flag, got, want)
		}
	}
}
