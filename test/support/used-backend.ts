// Gives a test a backend that ends with it.
import { onTestFinished } from 'vitest'
import type { Backend } from './backend.ts'

export async function use<B extends Backend>(starting: Promise<B>): Promise<B> {
  const backend = await starting
  onTestFinished(() => backend.close())
  return backend
}
