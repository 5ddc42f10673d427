package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
)

// TestNames: after a checkpoint, names that were looked up, found or not, are not
// looked up again. Other names are, and so are names whose look-up was interrupted.
func TestNames(t *testing.T) {
	asked := 0
	lookup := func(_ context.Context, host string) ([]netip.Addr, error) {
		asked++
		if host == "nowhere.test" {
			return nil, errors.New("no such host")
		}
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, byte(asked)})}, nil
	}
	var first HostNames
	first.Resolver(lookup)(t.Context(), "a.test")
	first.Resolver(lookup)(t.Context(), "nowhere.test")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	first.Resolver(lookup)(ended, "interrupted.test")

	b, err := json.Marshal(first.all())
	check(t, err)
	var second HostNames
	check(t, json.Unmarshal(b, &second.known))
	again := second.Resolver(lookup)
	addrs, err := again(t.Context(), "a.test")
	if want := []netip.Addr{netip.MustParseAddr("127.0.0.1")}; !reflect.DeepEqual(addrs, want) || err != nil {
		t.Errorf("%v, %v, want %v", addrs, err, want)
	}
	if _, err := again(t.Context(), "nowhere.test"); err == nil || err.Error() != "no such host" {
		t.Errorf("%v, want the saved error", err)
	}
	if asked != 3 {
		t.Errorf("asked %d times, want 3", asked)
	}
	if again(t.Context(), "interrupted.test"); asked != 4 {
		t.Error("a look-up that was interrupted is not repeated")
	}
}

// TestNamesTwice: two simultaneous look-ups of a name get the same addresses, even
// if the resolver returns different addresses each time.
func TestNamesTwice(t *testing.T) {
	var asked atomic.Int32
	var both sync.WaitGroup
	both.Add(2)
	lookup := func(context.Context, string) ([]netip.Addr, error) {
		n := asked.Add(1)
		both.Done()
		both.Wait()
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, byte(n)})}, nil
	}
	var n HostNames
	var got [2][]netip.Addr
	var done sync.WaitGroup
	for i := range got {
		done.Go(func() { got[i], _ = n.Resolver(lookup)(t.Context(), "round.robin.test") })
	}
	done.Wait()
	if saved := n.all()["round.robin.test"].Addrs; !reflect.DeepEqual(got[0], got[1]) || !reflect.DeepEqual(got[0], saved) {
		t.Errorf("%v and %v, and %v in a checkpoint", got[0], got[1], saved)
	}
}
