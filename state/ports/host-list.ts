// Parses addresses with several hosts, such as scheme://user:password@one:1,two:2/path?query.

interface ListedHost {
  /** Without the brackets of an IPv6 address. */
  readonly host: string
  /** 0: not given. */
  readonly port: number
  /** The same address with this host alone. */
  readonly url: string
}

const form = /^([a-z][a-z+]*:\/\/)((?:[^@/?#]*@)?)([^@/?#]+)([/?#].*)?$/i
const hostForm = /^(?:\[([0-9a-f:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/i

/** Never throws. undefined: not such an address; none of its text may be shown. */
export function listedHosts(address: string): readonly ListedHost[] | undefined {
  const [, scheme, user = '', list = '', rest = ''] = form.exec(address) ?? []
  if (scheme === undefined) return undefined
  const hosts: ListedHost[] = []
  for (const text of list.split(',')) {
    const [, v6, name, port = '0'] = hostForm.exec(text) ?? []
    const host = v6 ?? name
    const url = scheme + user + text + rest
    if (host === undefined || Number(port) > 65_535 || !URL.canParse(url)) return undefined
    hosts.push({ host, port: Number(port), url })
  }
  return hosts
}
