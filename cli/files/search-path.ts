// Defines where commands look for programs: the PATH of this process.
export function searchPath(): string {
  return process.env['PATH'] ?? ''
}
