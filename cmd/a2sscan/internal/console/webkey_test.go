package console

import "testing"

// TestWithoutKeys: keys are replaced; names of files and addresses are not.
func TestWithoutKeys(t *testing.T) {
	for in, want := range map[string]string{
		"key.txt": "key.txt", "/etc/a2sscan/key": "/etc/a2sscan/key", "monkey=7": "monkey=7", "": "",
		"127.0.0.1:27011":                                  "127.0.0.1:27011",
		"https://h/?filter=x&key=abc&limit=1":              "https://h/?filter=x&key=[key]&limit=1",
		"d41d8cd98f00b204e9800998ecf8427e.":                "[key].",
		"0d41d8cd98f00b204e9800998ecf8427e":                "0d41d8cd98f00b204e9800998ecf8427e",
		"a d41d8cd98f00b204e9800998ECF8427E and key=x end": "a [key] and key=[key] end",
	} {
		if got := WithoutKeys(in); got != want || LooksLikeKey(in) != (got != in) {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
