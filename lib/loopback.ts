// Recognises addresses and names of this machine alone.
import { isIPv4 } from 'node:net'

/** @param name host of a URL: an IPv6 address is in brackets */
export function isLoopbackName(name: string): boolean {
  if (name === 'localhost' || name.endsWith('.localhost')) return true
  return isIPv4(name) ? isLoopback(name) : name === '[::1]'
}

/** @param address in the form of the system */
export function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1'
}
