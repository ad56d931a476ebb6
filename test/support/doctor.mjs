import process from "node:process";
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `Tests need Node >= 22.18, got ${process.version} at ${process.execPath}; run "npm ci" then "npm rebuild node deno bun"`,
  );
  process.exit(1);
}
