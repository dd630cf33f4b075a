/// Sockets in goroutines: the network poller, from outside.
package dev.gloom.net;
