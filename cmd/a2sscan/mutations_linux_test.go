package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scan"
)

var (
	mutations    = flag.Int("mutations", 20, "how many `N` damaged checkpoints and outputs TestMutations resumes; the long form is 500")
	mutationSeed = flag.Uint64("mutation-seed", 0, "the `seed` of the first of them; 0: another one each time")
)

// unfinished is a scan that was killed, with the files that it left.
type unfinished struct {
	*killed
	left  map[string][]byte
	other map[string][]byte // those that another run of the same command left
	kept  map[string][]byte // the output up to the checkpoint, by file
}

// TestMutations damages the files of an unfinished scan and resumes it. Either the
// program prints an error and changes no file, or it completes the census. The output
// up to the checkpoint is never lost.
func TestMutations(t *testing.T) {
	skipShort(t)
	t.Parallel()
	seed := *mutationSeed
	for seed == 0 {
		seed = rand.Uint64() >> 16
	}
	cfg, _ := serve(t, fleet.Config{
		Network: netip.MustParsePrefix("127.73.0.0/25"), Alive: 0.97, Seed: 5, Kinds: []fleet.Kind{fleet.Source},
	})
	bases := []struct {
		output string
		flags  []string
	}{
		{"census.ndjson", nil},
		{"census.ndjson.zst", nil},
		{"census.ndjson", []string{"--rotate", "1s"}},
		{"census.ndjson.zst", []string{"--second-look"}},
	}
	for i, base := range bases {
		t.Run(strings.Join(append([]string{base.output}, base.flags...), " "), func(t *testing.T) {
			t.Parallel()
			k := newKilled(t, cfg, rand.NewPCG(uint64(i), 0), 2)
			k.output, k.saved = base.output, true
			k.flags = append(base.flags, "--timeout", "1s", "--retries", "2")
			u := leaveUnfinished(k)
			for n := uint64(i); n < uint64(*mutations); n += uint64(len(bases)) {
				t.Run(fmt.Sprint(seed+n), func(t *testing.T) {
					u.T = t
					u.try(rand.New(rand.NewPCG(seed+n, 0)))
				})
			}
		})
	}
}

// leaveUnfinished runs the command at least twice, and kills each scan before its end.
// It goes on until the last checkpoint has an open target, which is a matter of chance.
func leaveUnfinished(k *killed) *unfinished {
	u := &unfinished{killed: k}
	var c *scan.Checkpoint
	for n := 0; n < 2 || len(c.OpenTargets) == 0; n++ {
		if n == 12 {
			k.Fatalf("no checkpoint has an open target: %+v", c)
		}
		u.other = u.left
		u.restore(nil)
		args := append([]string{"checkpoint.written", "3"}, k.args()...)
		k.start("checkpoint.written", exec.CommandContext(k.Context(), "dies", append(args, "-r", "150")...), 0)
		u.left = u.now()
		var err error
		if c, err = scan.DecodeCheckpoint(u.left["scan.checkpoint"]); err != nil {
			k.Fatal(err)
		}
	}
	if c.Output.Offset == 0 && len(c.Output.Parts) == 0 {
		k.Fatalf("no checkpoint on the way: %+v", c)
	}
	u.kept = map[string][]byte{}
	if plan := c.Plan; c.Output.Offset > 0 {
		name := filepath.Base(c.OutputFile(&plan))
		u.kept[strings.TrimSuffix(name, ".part")] = u.left[name][:c.Output.Offset]
	}
	for _, p := range c.Output.Parts {
		name := filepath.Base(p.Name)
		u.kept[strings.TrimSuffix(name, ".part")] = u.left[name]
	}
	return u
}

// now returns the current files of the scan.
func (u *unfinished) now() map[string][]byte {
	all, err := filepath.Glob(u.path("*"))
	check(u, err)
	files := map[string][]byte{}
	for _, name := range all {
		if base := filepath.Base(name); base != "servers.txt" && !strings.HasSuffix(base, ".lock") {
			files[base] = u.read(name)
		}
	}
	return files
}

// restore replaces the files of the scan by the given ones.
func (u *unfinished) restore(files map[string][]byte) {
	for name := range u.now() {
		check(u, os.Remove(u.path(name)))
	}
	for name, b := range files {
		check(u, os.WriteFile(u.path(name), b, 0o666))
	}
}

// try damages the files and resumes the scan.
func (u *unfinished) try(rng *rand.Rand) {
	u.Helper()
	damaged := maps.Clone(u.left)
	what := u.damage(damaged, rng)
	u.restore(damaged)
	var said bytes.Buffer
	cmd := exec.CommandContext(u.Context(), "a2sscan", append(u.args(), "-r", "5k")...)
	cmd.Dir, cmd.Stderr = u.dir, &said
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		u.Fatal(err)
	}
	code := cmd.ProcessState.ExitCode()
	line, _, _ := strings.Cut(said.String(), "\n")
	u.Logf("%s: exit code %d: %s", what, code, line)
	if what == "scan.checkpoint of another run" && strings.Contains(said.String(), "missing from the output") {
		u.checkUntouched() // the scan had only complete parts, which may have been deleted
		return
	}
	switch code {
	case console.ExitOK:
		u.checkRepaired(strings.HasPrefix(what, "forged"))
	case console.ExitCheckpoint, console.ExitOutput:
		u.checkRefusal(damaged, said.String())
	case console.ExitNumbers:
		u.checkKept()
	default:
		u.Errorf("%s: exit code %d\n%s", what, code, &said)
	}
	if u.Failed() {
		u.Logf("%s\n%s", what, &said)
	}
}

// checkRefusal fails the test if the program printed no error or changed a file.
func (u *unfinished) checkRefusal(damaged map[string][]byte, said string) {
	u.Helper()
	if !strings.HasPrefix(said, "a2sscan: ") {
		u.Errorf("no reason: %s", said)
	}
	if !maps.EqualFunc(u.now(), damaged, bytes.Equal) {
		u.Errorf("resuming was refused, but the files changed")
	}
}

// checkRepaired fails the test if the census is not complete and correct, or does not
// begin with the output up to the checkpoint. If forged is set, it ignores the counts,
// which may be wrong.
func (u *unfinished) checkRepaired(forged bool) {
	u.Helper()
	u.n, u.last = 1, "resumed"
	if forged {
		u.checkTruth(u.cat(true, u.files()...), true)
	} else {
		u.checkEnd()
	}
	u.checkKept()
}

// checkUntouched fails the test if a file of the scan, except the checkpoint, has
// changed.
func (u *unfinished) checkUntouched() {
	u.Helper()
	for name, want := range u.left {
		if name != "scan.checkpoint" && !bytes.Equal(u.read(u.path(name)), want) {
			u.Errorf("%s has changed", name)
		}
	}
}

func (u *unfinished) checkKept() {
	u.Helper()
	for name, want := range u.kept {
		if now, err := os.ReadFile(u.path(name)); err != nil || !bytes.HasPrefix(now, want) {
			u.Errorf("%s: %d bytes, which do not begin with the old ones: %v", name, len(now), err)
		}
	}
}

// damage changes one of the files, and describes the change.
func (u *unfinished) damage(files map[string][]byte, rng *rand.Rand) string {
	if rng.IntN(3) == 0 {
		return u.forge(files, rng)
	}
	names := slices.Sorted(maps.Keys(files))
	name := names[rng.IntN(len(names))]
	if rng.IntN(8) == 0 {
		files[name] = u.other[slices.Sorted(maps.Keys(u.other))[rng.IntN(len(u.other))]]
		if b, ok := u.other[name]; ok {
			files[name] = b
		}
		return name + " of another run"
	}
	b := files[name]
	if len(b) == 0 {
		files[name] = []byte("x")
		return name + " with a byte"
	}
	from := rng.IntN(len(b))
	to := min(from+1+rng.IntN(1000), len(b))
	switch rng.IntN(5) {
	case 0:
		files[name] = b[:from]
		return fmt.Sprintf("%s cut at %d of %d", name, from, len(b))
	case 1:
		files[name] = slices.Delete(bytes.Clone(b), from, to)
		return fmt.Sprintf("%s without bytes %d to %d", name, from, to)
	case 2:
		files[name] = slices.Insert(bytes.Clone(b), from, b[from:to]...)
		return fmt.Sprintf("%s with bytes %d to %d twice", name, from, to)
	default:
		files[name] = bytes.Clone(b)
		files[name][from] ^= 1 << rng.IntN(8)
		return fmt.Sprintf("%s with a bit changed in byte %d", name, from)
	}
}

// forge changes a number in the checkpoint, or removes a key, and corrects the
// file's checksum.
func (u *unfinished) forge(files map[string][]byte, rng *rand.Rand) string {
	_, packed, _ := bytes.Cut(files["scan.checkpoint"], []byte("\n"))
	dec, _ := zstd.NewReader(nil)
	defer dec.Close()
	body, err := dec.DecodeAll(packed, nil)
	check(u, err)
	line, targets, _ := bytes.Cut(body, []byte("\n"))
	var c map[string]any
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	check(u, d.Decode(&c))
	what := forgeIn(c, rng)
	if line, err = json.Marshal(c); err != nil {
		u.Fatal(err)
	}
	enc, _ := zstd.NewWriter(nil)
	packed = enc.EncodeAll(append(append(line, '\n'), targets...), nil)
	files["scan.checkpoint"] = append(fmt.Appendf(nil, "a2sscan checkpoint 2 %x\n", sha256.Sum256(packed)), packed...)
	return "forged checkpoint: " + what
}

// forgeIn removes a key from an object, or changes its number. It never changes a
// seed, because nothing else in the checkpoint could contradict a wrong one.
func forgeIn(object map[string]any, rng *rand.Rand) string {
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(object)), func(key string) bool { return key == "seed" })
	if len(keys) == 0 {
		return "nothing"
	}
	key := keys[rng.IntN(len(keys))]
	switch v := object[key].(type) {
	case map[string]any:
		if rng.IntN(8) > 0 {
			return key + "." + forgeIn(v, rng)
		}
	case []any:
		if len(v) > 0 && rng.IntN(8) > 0 {
			i := rng.IntN(len(v))
			in := map[string]any{"": v[i]}
			what := forgeIn(in, rng)
			v[i] = in[""]
			return fmt.Sprintf("%s[%d]%s", key, i, what)
		}
	case json.Number:
		if rng.IntN(4) > 0 {
			n, _ := v.Int64()
			object[key] = []int64{n - 1, n + 1, 2 * n, -n - 1, 0, 1 << 62}[rng.IntN(6)]
			return fmt.Sprintf("%s %s is %v", key, v, object[key])
		}
	}
	delete(object, key)
	return key + " removed"
}
