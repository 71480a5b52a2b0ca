// Package scale contains only tests: of releases with many objects, and of many releases, compared
// with Helm 4 and with the floor, a bare client that sends the same requests and does nothing else.
package scale
