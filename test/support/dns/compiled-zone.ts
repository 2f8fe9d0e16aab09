// Zone files as named-compilezone of BIND reads them.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * @param file in a folder from which it includes others, and where the result may be written
 * @returns a line for each record; throws what named-compilezone says of a file that it refuses
 */
export function compiledByBind(file: string, zone: string): string {
  // It complains of names that are not there; that is not what is compared.
  const checks = ['-i', 'none', '-k', 'ignore', '-m', 'ignore', '-M', 'ignore', '-n', 'ignore']
  const form = ['-q', '-s', 'full', '-o', `${file}.out`]
  const cwd = dirname(file)
  execFileSync('named-compilezone', [...checks, ...form, zone, file], { cwd, stdio: 'pipe' })
  return readFileSync(`${file}.out`, 'utf8')
}
