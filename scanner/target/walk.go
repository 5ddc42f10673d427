package target

import (
	"io"
	"iter"
	"net/netip"
	"os"
)

// walk is one run of All. Its methods report whether to go on.
type walk struct {
	*List
	yield func(Target) bool
	segs  []segment // of the network that is given out

	counting bool // nothing is really left out

	file string
	line int
	read uint64 // Stats.Read at the last flush
	size int64  // bytes of lines since then
}

func (w *walk) input(in *input) bool {
	switch in.path {
	case "":
		return w.name(&in.name, nil)
	case stdin:
		return w.lines("standard input", w.cfg.Stdin)
	}
	f, err := os.Open(in.path)
	if err != nil {
		return w.fail(unreadable(in.path, err))
	}
	defer f.Close()
	return w.lines(in.path, f)
}

func (w *walk) fail(err error) bool {
	w.err.Store(&err)
	return false
}

// lines reads the list r.
func (w *walk) lines(file string, r io.Reader) bool {
	w.file, w.line, w.read = file, 0, w.Stats().Read
	defer w.flush()
	var err error
	for line := range eachLine(r, &err) {
		w.line = line.number
		w.size += line.size
		if line.long {
			w.longLine(line.text)
		} else if !w.oneLine(line.text) {
			return false
		}
		if w.size >= flushSize {
			w.flush()
		}
	}
	if err != nil {
		return w.fail(unreadable(file, err))
	}
	return true
}

// flushSize is how many bytes are read before Progress is told.
const flushSize = 16 << 10

// flush tells Progress how much was read.
func (w *walk) flush() {
	now := w.Stats().Read
	w.counts.listed.Add(now - w.read)
	w.counts.listedBytes.Add(w.size)
	w.read, w.size = now, 0
}

// longLine counts a line that is too long.
func (w *walk) longLine(text []byte) {
	if text := trimLeft(text); len(text) == 0 || text[0] != '#' {
		w.invalid(text, FaultLong)
	}
}

// oneLine reads a line of a list.
func (w *walk) oneLine(text []byte) bool {
	text = trimRight(trimLeft(text))
	if len(text) == 0 || text[0] == '#' {
		return true
	}
	addr, tag := cutTag(text)
	n, f := parse(addr)
	if f == 0 && n.form == formNetwork && w.cfg.Ports.Len() == 0 {
		f = FaultNoPorts
	}
	if f != 0 {
		w.invalid(text, f)
		return true
	}
	return w.name(&n, tag)
}

func (w *walk) invalid(text []byte, f Fault) {
	w.counts.invalid.Add(1)
	if w.cfg.Invalid != nil {
		w.cfg.Invalid(Invalid{File: show([]byte(w.file)), Line: w.line, Text: show(text), Err: f})
	}
}

// name gives out what n stands for.
func (w *walk) name(n *name, tag []byte) bool {
	switch {
	case n.form == formNetwork:
		return w.network(n.prefix(), string(tag))
	case n.form == formAddrPort:
		return w.target(n.ip, n.port, tag)
	case w.cfg.Ports.Len() == 0:
		return w.target(n.ip, DefaultPort, tag)
	}
	for _, port := range w.cfg.Ports.list {
		if !w.target(n.ip, port, tag) {
			return false
		}
	}
	return true
}

// target gives out one listed target, unless something speaks against it.
func (w *walk) target(ip uint32, port uint16, tag []byte) bool {
	if rule := w.rules().find(ip); rule != nil {
		w.leaveOut(rule, 1)
		return true
	}
	if w.inNetwork(ip, port) || !w.seen.add(pack(ip, port)) {
		w.counts.duplicate.Add(1)
		return true
	}
	return w.give(ip, port, string(tag))
}

// inNetwork reports whether a target is in a network that was given out.
func (l *List) inNetwork(ip uint32, port uint16) bool {
	return l.cfg.Ports.Contains(port) && l.done.Contains(addrOf(ip))
}

func pack(ip uint32, port uint16) uint64 { return uint64(ip)<<16 | uint64(port) }

func (w *walk) give(ip uint32, port uint16, tag string) bool {
	given := w.counts.given.Add(1)
	more := w.yield(Target{
		Addr: netip.AddrPortFrom(addrOf(ip), port), Tag: tag, Place: given - 1,
	})
	return more && given != w.cfg.Max
}

// leaveOut counts targets that a rule leaves out.
func (w *walk) leaveOut(r *rule, n uint64) {
	if !w.counting {
		r.left.targets.Add(n)
	}
	if r.unscannable() {
		w.counts.unscannable.Add(n)
	} else {
		w.counts.excluded.Add(n)
	}
}

// rules are those that hold at the moment.
func (l *List) rules() *ruleSet { return l.cfg.Exclusions.now.Load() }

// network gives out the targets of a network, port by port.
func (w *walk) network(p netip.Prefix, tag string) bool {
	w.segs = w.plan(w.segs[:0], p)
	w.done.Insert(p)
	for _, port := range w.cfg.Ports.list {
		for i := range w.segs {
			if !w.segment(&w.segs[i], port, tag) {
				return false
			}
		}
	}
	return true
}

func (w *walk) segment(s *segment, port uint16, tag string) bool {
	switch s.rule {
	case nil:
	case again:
		w.counts.duplicate.Add(s.len())
		return true
	default:
		w.leaveOut(s.rule, s.len())
		return true
	}
	for ip := s.first; ; ip++ {
		if w.seen.n > 0 && w.seen.has(pack(ip, port)) {
			w.counts.duplicate.Add(1)
		} else if !w.give(ip, port, tag) {
			return false
		}
		if ip == s.last {
			return true
		}
	}
}

// plan appends what becomes of the addresses of a network, in order: listed
// ones, which are looked up one by one, excepted.
func (l *List) plan(segs []segment, p netip.Prefix) []segment {
	first, last := bounds(p)
	segs = l.rules().within(segs, first, last)
	if l.done.LookupPrefix(p) {
		return cutOut(segs, []segment{{first, last, again}})
	}
	if holes := largest(l.done.Subnets(p)); len(holes) > 0 {
		return cutOut(segs, holes)
	}
	return segs
}

// largest returns those of the networks, which come in order, that are in no
// other one.
func largest(networks iter.Seq[netip.Prefix]) (holes []segment) {
	for p := range networks {
		first, last := bounds(p)
		if n := len(holes); n == 0 || holes[n-1].last < first {
			holes = append(holes, segment{first, last, again})
		}
	}
	return holes
}

// cutOut marks the addresses in holes as given out before. Both are in order.
func cutOut(segs, holes []segment) (out []segment) {
	for _, s := range segs {
		if s.rule == nil {
			for len(holes) > 0 && holes[0].last < s.first {
				holes = holes[1:]
			}
			out = cutOne(out, s, holes)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// cutOne is cutOut of one segment, with no hole before it.
func cutOne(out []segment, s segment, holes []segment) []segment {
	for _, h := range holes {
		if h.first > s.last {
			break
		}
		if h.first > s.first {
			out = append(out, segment{s.first, h.first - 1, nil})
			s.first = h.first
		}
		last := min(h.last, s.last)
		out = append(out, segment{s.first, last, again})
		if last == s.last {
			return out
		}
		s.first = last + 1
	}
	return append(out, s)
}

// targets returns how many targets n stands for.
func (l *List) targets(n *name) uint64 {
	ports := uint64(l.cfg.Ports.Len())
	switch n.form {
	case formNetwork:
		return ports << (32 - n.bits)
	case formAddr:
		return max(ports, 1)
	}
	return 1
}

// countAll returns how many targets All gives out if there are no lists. It
// goes through the arguments as All does, networks first: which of two
// duplicates is given out changes nothing.
func (l *List) countAll() (total uint64) {
	w := &walk{List: &List{cfg: l.cfg}, counting: true}
	w.cfg.Max = 0
	w.yield = func(Target) bool { return true }
	for i := range l.inputs {
		if n := &l.inputs[i].name; n.form == formNetwork {
			for _, s := range w.plan(nil, n.prefix()) {
				if s.rule == nil {
					total += s.len() * uint64(l.cfg.Ports.Len())
				}
			}
			w.done.Insert(n.prefix())
		}
	}
	for i := range l.inputs {
		if n := &l.inputs[i].name; n.form != formNetwork {
			w.name(n, nil)
		}
	}
	total += w.counts.given.Load()
	if l.cfg.Max > 0 {
		total = min(total, l.cfg.Max)
	}
	return total
}
