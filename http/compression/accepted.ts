// Parses Accept-Encoding: whether a client accepts a coding (RFC 9110 section 12.5.3).

/** `*` names no coding in particular, so such a client gets the response as it is. */
export function takesCoding(accepted: string | undefined, coding: string): boolean {
  return (accepted ?? '').split(',').some((one) => {
    const [name = '', weight = ''] = one.split(';')
    return name.trim().toLowerCase() === coding && !/^\s*q\s*=\s*0(\.0*)?\s*$/i.test(weight)
  })
}
