package record

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// NameKey is the secret key of hashes that replace the names of players. It must be random.
// With the same key, equal names have equal hashes. Without the key, only the owner of a
// server that the scan queries can test a guess: the owner can invent players, and look for
// their hashes in the published census.
type NameKey [32]byte

// The first of the hashed bytes. It makes the hashes of a name, a list and a key differ,
// even if their bytes are the same. A list is the unkeyed hash of a list of players: if the
// record had this hash, anybody could test a guess of the list.
const (
	hashOfName = 'n'
	hashOfList = 'l'
	hashOfKey  = 'k'
)

// ID identifies the key without revealing it: 16 hexadecimal digits.
func (k *NameKey) ID() string { return string(appendHash(nil, newHasher(k).hash(hashOfKey, nil))) }

// hasher makes HMAC-SHA-256 hashes, truncated to 64 bits.
type hasher struct {
	mac  hash.Hash
	text []byte // the bytes to hash; its memory is reused
	sum  []byte
}

func newHasher(key *NameKey) *hasher { return &hasher{mac: hmac.New(sha256.New, key[:])} }

func (h *hasher) hash(kind byte, of []byte) uint64 {
	h.text = append(append(h.text[:0], kind), of...)
	h.mac.Reset()
	h.mac.Write(h.text)
	h.sum = h.mac.Sum(h.sum[:0])
	return binary.BigEndian.Uint64(h.sum)
}

func appendHash(dst []byte, h uint64) []byte {
	var digits [16]byte
	for i := range digits {
		digits[i] = hexDigits[h>>60]
		h <<= 4
	}
	return append(dst, digits[:]...)
}
