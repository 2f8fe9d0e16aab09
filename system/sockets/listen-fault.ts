// Explains in one sentence why a socket could not be bound.

const advice: Readonly<Record<string, string>> = Object.freeze({
  EADDRINUSE: 'another program has it; stop that one, or choose another port with dns.port',
  EADDRNOTAVAIL: 'this machine does not have that address; set dns.listenAddr to one that it has',
  EACCES: 'not allowed; ports below 1024 need root or CAP_NET_BIND_SERVICE',
})

/** @param fault the name of an errno, such as EADDRINUSE */
export function whyNotListening(
  transport: 'UDP' | 'TCP',
  listenAddr: string,
  port: number,
  fault: string,
  portKey = 'dns.port',
): string {
  const place = `${listenAddr} port ${port} (dns.listenAddr, ${portKey})`
  return `cannot listen on ${transport} ${place}: ${(advice[fault] ?? fault).replace('dns.port', portKey)}`
}
