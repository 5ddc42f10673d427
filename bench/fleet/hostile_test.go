package fleet

import (
	"bytes"
	"compress/bzip2"
	"hash/crc32"
	"io"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// hostileAnswer returns the datagrams with which a hostile server answers q. If the
// server demands a challenge, the request has a valid one.
func hostileAnswer(t *testing.T, k Kind, q wire.Question) [][]byte {
	t.Helper()
	c := oneServer(t, k)
	m, err := newModel(c)
	if err != nil {
		t.Fatal(err)
	}
	ask := inProcess(m)
	ds := ask(m.place(0), wire.AppendRequest(nil, q, wire.NoChallenge))
	if ch, err := wire.DecodeChallenge(ds[0]); err == nil {
		ds = ask(m.place(0), wire.AppendRequest(nil, q, ch))
	}
	return ds
}

// joined returns the first fragment, and the compressed data of all fragments.
func joined(t *testing.T, ds [][]byte) (first wire.Fragment, data []byte) {
	t.Helper()
	layout, packed := wire.ShowLayout(ds[0])
	if !packed {
		t.Fatalf("not compressed: %X", ds[0][:20])
	}
	for i, d := range ds {
		var f wire.Fragment
		if err := f.Decode(d, layout, true); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = f
		}
		data = append(data, f.Payload...)
	}
	return first, data
}

// TestBzip2IsMalicious checks that the compressed replies of hostile servers have
// the intended faults.
func TestBzip2IsMalicious(t *testing.T) {
	unpack := func(k Kind) (f wire.Fragment, size int64, crc uint32, err error) {
		f, data := joined(t, hostileAnswer(t, k, wire.QuestionRules))
		sum := crc32.NewIEEE()
		size, err = io.Copy(sum, bzip2.NewReader(bytes.NewReader(data)))
		return f, size, sum.Sum32(), err
	}
	if f, size, crc, err := unpack(WrongChecksum); err != nil || size != int64(f.DeclaredSize) || crc == f.CRC {
		t.Errorf("wrong checksum: %d of %d bytes, %x for %x, %v", size, f.DeclaredSize, crc, f.CRC, err)
	}
	if f, size, crc, err := unpack(DeclaresTwoGiB); err != nil || size > 1<<16 || f.DeclaredSize != 1<<31 || crc != f.CRC {
		t.Errorf("declares 2 GiB: %d of %d bytes, %v", size, f.DeclaredSize, err)
	}
	if f, size, _, err := unpack(Bomb); err != nil || size < 10*int64(f.DeclaredSize) {
		t.Errorf("bomb: %d bytes, %d declared, %v", size, f.DeclaredSize, err)
	}
	if _, size, _, err := unpack(Noise); err == nil {
		t.Errorf("noise is bzip2 of %d bytes", size)
	}
}

// TestLeadingFragmentHoldsTheTruth checks that the truth of a FragmentsDisagree
// server has the rules in the first fragment of its reply.
func TestLeadingFragmentHoldsTheTruth(t *testing.T) {
	c := oneServer(t, FragmentsDisagree)
	m, _ := newModel(c)
	want := c.Truth(udp.Unpack(m.place(0)), scanner.AskAll)
	var f wire.Fragment
	if err := f.Decode(hostileAnswer(t, FragmentsDisagree, wire.QuestionRules)[0], wire.LayoutSource, false); err != nil {
		t.Fatal(err)
	}
	var rules wire.Rules
	if err := rules.Reset(f.Payload); err != nil {
		t.Fatal(err)
	}
	for rules.Next() {
	}
	if rules.Count() == 0 || rules.Count() != len(want.Rules) || want.RulesAnnounced != rules.Announced() {
		t.Errorf("%d of %d rules in the first fragment, truth %d of %d",
			rules.Count(), rules.Announced(), len(want.Rules), want.RulesAnnounced)
	}
}
