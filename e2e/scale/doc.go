// Package scale has tests only: releases of many objects, and many releases, beside Helm 4
// and beside a bare client that sends the same requests and does nothing else, the floor.
package scale
