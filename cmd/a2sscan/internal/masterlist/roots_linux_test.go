package masterlist

import (
	"crypto/x509"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestOwnRoots: the program uses its own roots only if the system has none. Each
// case runs in a new process, because a process reads the system's roots only once.
func TestOwnRoots(t *testing.T) {
	want := os.Getenv("A2SSCAN_TEST_ROOTS")
	if want != "" {
		pool, err := x509.SystemCertPool()
		test := x509.NewCertPool()
		test.AppendCertsFromPEM([]byte(testRoot))
		if err != nil || pool.Equal(test) != (want == "system's") || pool.Equal(x509.NewCertPool()) {
			t.Errorf("want the %s roots: %v", want, err)
		}
		return
	}
	none, some := filepath.Join(t.TempDir(), "none"), filepath.Join(t.TempDir(), "some.pem")
	if err := os.WriteFile(some, []byte(testRoot), 0o666); err != nil {
		t.Fatal(err)
	}
	for want, file := range map[string]string{"own": none, "system's": some} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestOwnRoots$")
		cmd.Env = append(os.Environ(), "A2SSCAN_TEST_ROOTS="+want, "SSL_CERT_FILE="+file, "SSL_CERT_DIR="+none)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// testRoot is a certificate whose private key was thrown away.
const testRoot = `-----BEGIN CERTIFICATE-----
MIIBajCCAQ+gAwIBAgIBATAKBggqhkjOPQQDAjAbMRkwFwYDVQQDExBhIHJvb3Qg
Zm9yIHRlc3RzMCAXDTI2MDEwMTAwMDAwMFoYDzIxMjYwMTAxMDAwMDAwWjAbMRkw
FwYDVQQDExBhIHJvb3QgZm9yIHRlc3RzMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
QgAEx9QJjIi+ulTpCEKWbABEVCapuQ03d2TZlIW74aT5nVKGX/Uq+stx9WhGp49y
AbI62HN/JTJ5ETpCihZ/F3jc/qNCMEAwDgYDVR0PAQH/BAQDAgIEMA8GA1UdEwEB
/wQFMAMBAf8wHQYDVR0OBBYEFCFKyXnjyToSmyH6mSfYJ9w9HKPyMAoGCCqGSM49
BAMCA0kAMEYCIQCyTlO6H3z5IB8Rhcg42YJ8Kt4ef7ZaDJ0c8yGxvOwh/AIhALMa
pGxpw5YmzzBQYHBc2H02eG+//wA1JEKYapO7IjF3
-----END CERTIFICATE-----
`
