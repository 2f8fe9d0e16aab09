// Acts like a browser in a login: follows redirects and keeps cookies, by host and port.

export interface Visit {
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface Browser {
  /** Names and values of the cookies for that origin. */
  readonly cookies: (origin: string) => ReadonlyMap<string, string>
  /** One request. */
  readonly get: (url: string) => Promise<Visit>
  /**
   * @param onto may change the target of a redirect
   * @returns the first response that is no redirect
   */
  readonly follow: (url: string, onto?: (next: URL) => URL) => Promise<Visit>
}

const redirectsMax = 20

/**
 * @param hosts real origins of sites without an address of their own
 *
 * @param headers of each request
 */
export function openBrowser(
  hosts: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Browser {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (origin: string): Map<string, string> => {
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    return jar
  }
  const get = async (url: string): Promise<Visit> => {
    const { origin, pathname, search } = new URL(url)
    const jar = jarOf(origin)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch((hosts[origin] ?? origin) + pathname + search, {
      redirect: 'manual',
      headers: { ...headers, ...(cookie === '' ? {} : { cookie }) },
    })
    for (const line of answer.headers.getSetCookie()) keep(jar, line)
    return { url, status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  return {
    cookies: jarOf,
    get,
    follow: async (url, onto = (next) => next) => {
      let visit = await get(url)
      for (let i = 0; i < redirectsMax && visit.status >= 300 && visit.status < 400; i++) {
        const next = onto(new URL(visit.headers.get('location') ?? '', visit.url))
        visit = await get(next.href)
      }
      return visit
    },
  }
}

function keep(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split(/; */)
  const [name = '', value = ''] = pair.split(/=(.*)/s)
  const isOver = attributes.some((attribute) => /^(max-age=0|expires=.* 1970 .*)$/i.test(attribute))
  if (isOver || value === '') jar.delete(name)
  else jar.set(name, value)
}
