import { createRoot } from "react-dom/client";
import "./ui/tokens.css";
const root = document.getElementById("root"); if (root) createRoot(root).render(<p>hello</p>);
