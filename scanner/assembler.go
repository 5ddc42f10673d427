package scanner

import "github.com/a2sscan/a2sscan/wire"

// Assembler makes Results of whole messages, as a scan does with those of a
// target that is finished. It is for programs that have sockets of their own,
// or messages in memory; Decoder takes datagrams in any order. The zero value
// is ready. It keeps its memory for the next Result.
type Assembler struct {
	asm    assembler
	info   wire.Info
	result Result
}

// Result returns what a server says by these messages: an 'I' or 'm', a 'D'
// and an 'E', nil where there is none. A question without a message was not
// asked. Address, times and counts are zero: they are the caller's to set. The
// Result aliases the messages and the Assembler, and is valid until either is
// used again.
func (a *Assembler) Result(info, players, rules []byte) *Result {
	r := &a.result
	*r = Result{}
	m := replies{info: info, decoded: &a.info, players: players, rules: rules}
	m.infoErr, _ = a.info.Decode(info).(wire.Error)
	for q, msg := range [wire.NumQuestions][]byte{info, players, rules} {
		if msg != nil {
			r.Asked |= 1 << q
			r.Received++
			r.RecvBytes += uint64(len(msg))
		}
	}
	a.asm.assemble(r, &m)
	return r
}
