package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"reflect"
	"testing"
)

// TestNames: a name that was looked up is not looked up again after a
// checkpoint, nor one that was not found; others are.
func TestNames(t *testing.T) {
	asked := 0
	look := func(_ context.Context, host string) ([]netip.Addr, error) {
		asked++
		if host == "nowhere.test" {
			return nil, errors.New("no such host")
		}
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, byte(asked)})}, nil
	}
	var first names
	first.remember(look)(t.Context(), "a.test")
	first.remember(look)(t.Context(), "nowhere.test")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	first.remember(look)(ended, "interrupted.test")

	b, err := json.Marshal(first.all())
	if err != nil {
		t.Fatal(err)
	}
	var second names
	if err := json.Unmarshal(b, &second.known); err != nil {
		t.Fatal(err)
	}
	again := second.remember(look)
	addrs, err := again(t.Context(), "a.test")
	if want := []netip.Addr{netip.MustParseAddr("127.0.0.1")}; !reflect.DeepEqual(addrs, want) || err != nil {
		t.Errorf("%v, %v, want %v", addrs, err, want)
	}
	if _, err := again(t.Context(), "nowhere.test"); err == nil || err.Error() != "no such host" {
		t.Errorf("%v, want the error that it was", err)
	}
	if asked != 3 {
		t.Errorf("asked %d times, want 3", asked)
	}
	if again(t.Context(), "interrupted.test"); asked != 4 {
		t.Error("what an interrupt left unknown is not asked again")
	}
}
