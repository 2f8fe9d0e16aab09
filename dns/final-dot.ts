// Removes the final dot of a host name that is sent to a server.

/**
 * Servers look their sites up by the text of a host: to `www.example.com.` some answer with another
 * site or with none, and no certificate has the dot. DNS alone wants it.
 *
 * @param host a name or an address, also with a port: `www.example.com.:8443`
 */
export function withoutFinalDot(host: string): string {
  return host.replace(/\.(?=$|:\d*$)/, '')
}
