package main

import (
	"crypto/x509"
	"fmt"
	"sync"

	// The roots that browsers trust: a list that others keep.
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// trustRoots has the Web API's certificate checked even where the system has no
// roots of its own, as in an image that holds the program alone. The system's
// are used wherever it has some.
var trustRoots = sync.OnceFunc(func() { x509.SetFallbackRoots(ownRoots()) })

// ownRoots are the roots that the program brings with it.
func ownRoots() *x509.CertPool {
	pool := x509.NewCertPool()
	for root := range bundle.Roots() {
		cert, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			panic(fmt.Sprintf("a root of the bundle: %v", err))
		}
		if root.Constraint == nil {
			pool.AddCert(cert)
		} else {
			pool.AddCertWithConstraint(cert, root.Constraint)
		}
	}
	return pool
}
