// Removes the final dot of a host name that is sent to a server.

/**
 * Servers choose a site by the text of the host: some answer `www.example.com.` with another
 * site or with none, and no certificate has the dot. Only DNS wants it.
 *
 * @param host a name or an address, also with a port: `www.example.com.:8443`
 */
export function withoutFinalDot(host: string): string {
  return host.replace(/\.(?=$|:\d*$)/, '')
}
